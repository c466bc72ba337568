"""Topics in and out of this process: real DDS, or memory for tests and virtual time."""

from orchestrator.bus.contract import Bus, BusError, Endpoint, Reader, Report, Sample, Writer

__all__ = ["Bus", "BusError", "Endpoint", "Reader", "Report", "Sample", "Writer"]
