"""What the robots speak: message types generated from `idl/`, and the codec between CDR bytes and objects."""
