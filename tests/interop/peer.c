/* A stand-in for Dobot's and PND's robots: CycloneDDS 0.10, C types generated from our .idl, default QoS as in their SDKs.
   Takes every type on "there/NAME", writes it back on "back/NAME" through its own serialiser, and leaves when its
   standard input is closed. TYPES (a list of ENTRY(name, descriptor)) and the includes come from the test. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dds/dds.h"
#include "types.h"

struct entry {
  const char *name;
  const dds_topic_descriptor_t *descriptor;
};

#define ENTRY(name, descriptor) {name, &descriptor},
static const struct entry entries[] = {TYPES};
#define COUNT (sizeof entries / sizeof entries[0])

static dds_entity_t readers[COUNT], writers[COUNT];

static dds_entity_t topic(dds_entity_t participant, const char *prefix, const struct entry *entry) {
  char name[128];
  snprintf(name, sizeof name, "%s/%s", prefix, entry->name);
  return dds_create_topic(participant, entry->descriptor, name, NULL, NULL);
}

/* One value per vendor as this compiler's own structs see it. */
static void show(const char *name, const void *sample) {
#ifdef VENDOR_dobot_atom
  if (!strcmp(name, "AMRCommand_"))
    printf("dobot target_id %u\n", ((const dobot_atom_msg_dds__AMRCommand_ *)sample)->target_id);
#endif
#ifdef VENDOR_pnd_adam
  if (!strcmp(name, "HandState_"))
    printf("pnd position[11] %u\n", ((const pnd_adam_msg_dds__HandState_ *)sample)->position[11]);
#endif
  (void)name, (void)sample;
}

static void echo(size_t i) {
  void *samples[1] = {NULL};
  dds_sample_info_t info[1];
  while (dds_take(readers[i], samples, info, 1, 1) > 0) {
    if (info[0].valid_data) {
      show(entries[i].name, samples[0]);
      if (dds_write(writers[i], samples[0]) < 0) printf("cannot write %s\n", entries[i].name);
    }
    dds_return_loan(readers[i], samples, 1);
  }
}

int main(int argc, char **argv) {
  (void)argc;
  dds_entity_t participant = dds_create_participant((dds_domainid_t)atoi(argv[1]), NULL, NULL);
  if (participant < 0) return 1;
  for (size_t i = 0; i < COUNT; i++) {
    readers[i] = dds_create_reader(participant, topic(participant, "there", &entries[i]), NULL, NULL);
    writers[i] = dds_create_writer(participant, topic(participant, "back", &entries[i]), NULL, NULL);
    if (readers[i] < 0 || writers[i] < 0) {
      printf("cannot create %s\n", entries[i].name);
      return 1;
    }
  }
  printf("up\n");
  fflush(stdout);
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  while (poll(&input, 1, 2) == 0)
    for (size_t i = 0; i < COUNT; i++) echo(i);
  printf("alive to the end\n");
  dds_delete(participant);
  return 0;
}
