/* A small Atom-W or Adam: CycloneDDS 0.10, C types generated from our .idl, default QoS as in the vendors' SDKs.
   Reports its state 20 times a second, obeys what it is told, says so, and leaves when its standard input is closed. */
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "dds/dds.h"
#include "types.h"

#define EVERY 0.05
#define COUNT(array) (sizeof array / sizeof array[0])

struct report {
  const char *topic;
  const dds_topic_descriptor_t *type;
  const void *message;
  dds_entity_t writer;
};

struct command {
  const char *topic;
  const dds_topic_descriptor_t *type;
  void (*obey)(const void *message);
  dds_entity_t reader;
};

static double now(void) { return (double)dds_time() / 1e9; }

/* With the lag of a motor. */
static float nearer(float from, float to) { return from + 0.4f * (to - from); }

#ifdef VENDOR_dobot_atom

#define ATOM(name) dobot_atom_msg_dds__##name

static ATOM(LowerState_) lower = {.fsm_id = 1, .imu_state.quaternion = {1}, .bms_state.battery_level = 80};
static ATOM(UpperState_) upper = {.robot_type = "ATOM W", .bms_state.battery_level = 80};
static ATOM(EmergencyState_) emergency;
static ATOM(HandsState_) hands;
static ATOM(MainNodesState_) nodes;
/* It has been somewhere before: the COMPLETED of task 7 is still to be seen. */
static ATOM(AMRState_) amr = {
    .device_status = ATOM(DEVIDLE), .navigation_status = ATOM(COMPLETED), .task_id = 7, .basic_status.battery_level = 60};

static uint16_t fsm_wanted = 1;
static double fsm_due, task_began = -1;
static uint32_t tag;
static float hands_wanted[12], upper_wanted[17];

static void prepare(void) {
  ATOM(AxisStateInfo_) healthy = {.servo_state = 3, .node_state = 5};
  for (int i = 0; i < 6; i++) nodes.left_leg[i] = nodes.right_leg[i] = healthy;
  for (int i = 0; i < 7; i++) nodes.left_arm[i] = nodes.right_arm[i] = healthy;
  for (int i = 0; i < 2; i++) nodes.head[i] = healthy, nodes.ecat2can[i].slave_state = 1;
  nodes.waist = healthy;
  const float closed[6] = {0.3316f, 0.3316f, 0.3316f, 0.3316f, -0.2269f, 1.5708f};
  for (int i = 0; i < 12; i++) hands.hands[i].q = hands_wanted[i] = closed[i % 6];
}

static void set_fsm(const void *message) {
  fsm_wanted = ((const ATOM(SetFsmId_) *)message)->id;
  fsm_due = now() + 0.2;
  printf("fsm %u\n", fsm_wanted);
}

static void switch_upper(const void *message) {
  upper.is_upper_control = ((const ATOM(SwitchUpperControl_) *)message)->flag;
  printf("upper control %d\n", upper.is_upper_control);
}

static void move_upper(const void *message) {
  if (!upper.is_upper_control) return;
  for (int i = 0; i < 17; i++) upper_wanted[i] = ((const ATOM(UpperCmd_) *)message)->motor_cmd[i].q;
}

static void move_hands(const void *message) {
  for (int i = 0; i < 12; i++) hands_wanted[i] = ((const ATOM(HandsCmd_) *)message)->hands[i].q;
  printf("hands\n");
}

static void move_base(const void *message) {
  const ATOM(AMRCommand_) *order = message;
  printf("base command %d tag %u\n", (int)order->command_type, order->target_id);
  if (order->command_type != ATOM(MOVE_TO_TAG)) return;
  tag = order->target_id;
  task_began = now();
  amr.task_id++;
}

static void drive(void) {
  double driven = now() - task_began;
  if (task_began < 0) return;
  amr.device_status = driven < 0.5 ? ATOM(TASKING) : ATOM(DEVIDLE);
  amr.navigation_status = driven < 0.1 ? ATOM(QUEUING) : driven < 0.5 ? ATOM(RUNNING) : ATOM(COMPLETED);
  amr.position[0] = nearer(amr.position[0], (float)tag);
}

static void live(void) {
  if (now() >= fsm_due) lower.fsm_id = upper.fsm_id = fsm_wanted;
  for (int i = 0; i < 17; i++) upper.motor_state[i].q = nearer(upper.motor_state[i].q, upper_wanted[i]);
  for (int i = 0; i < 12; i++) hands.hands[i].q = nearer(hands.hands[i].q, hands_wanted[i]);
  drive();
  lower.bms_state.heartbeat++, upper.bms_state.heartbeat++, amr.basic_status.heartbeat++;
}

static struct report reports[] = {
    {"rt/lower/state", &ATOM(LowerState__desc), &lower},
    {"rt/upper/state", &ATOM(UpperState__desc), &upper},
    {"rt/emergency/state", &ATOM(EmergencyState__desc), &emergency},
    {"rt/hands/state", &ATOM(HandsState__desc), &hands},
    {"rt/main/nodes/state", &ATOM(MainNodesState__desc), &nodes},
    {"rt/amr/state", &ATOM(AMRState__desc), &amr},
};
static struct command commands[] = {
    {"rt/set/fsm/id", &ATOM(SetFsmId__desc), set_fsm},
    {"rt/switch/upper/control", &ATOM(SwitchUpperControl__desc), switch_upper},
    {"rt/upper/cmd", &ATOM(UpperCmd__desc), move_upper},
    {"rt/hands/cmd", &ATOM(HandsCmd__desc), move_hands},
    {"rt/amr/cmd", &ATOM(AMRCommand__desc), move_base},
};

#endif
#ifdef VENDOR_pnd_adam

#define ADAM(name) pnd_adam_msg_dds__##name
#define JOINTS 19

static ADAM(MotorState_) motors[JOINTS];
static ADAM(LowState_) low = {
    .imu_state.quaternion = {1},
    .motor_state = {._maximum = JOINTS, ._length = JOINTS, ._buffer = motors},
    .battery_data = {.voltage = 48, .current = 2, .status = "discharging"},
};
static ADAM(HandState_) hands;
static float wanted[JOINTS];
static uint32_t hands_wanted[12];

static void prepare(void) {
  for (int i = 0; i < JOINTS; i++) motors[i].mode = 1;
}

static void move_joints(const void *message) {
  const ADAM(LowCmd_) *order = message;
  static bool said;
  if (!said) printf("joints %u kp[0] %.0f\n", order->motor_cmd._length, order->motor_cmd._buffer[0].kp);
  said = true;
  for (uint32_t i = 0; i < JOINTS && i < order->motor_cmd._length; i++) wanted[i] = order->motor_cmd._buffer[i].q;
}

static void move_hands(const void *message) {
  for (int i = 0; i < 12; i++) hands_wanted[i] = ((const ADAM(HandCmd_) *)message)->position[i];
  printf("hands %u %u\n", hands_wanted[0], hands_wanted[11]);
}

static void live(void) {
  for (int i = 0; i < JOINTS; i++) motors[i].q = nearer(motors[i].q, wanted[i]);
  for (int i = 0; i < 12; i++) hands.position[i] = (uint32_t)(nearer(hands.position[i], hands_wanted[i]) + 0.5f);
  low.tick++, low.battery_data.timestamp_ms++;
}

static struct report reports[] = {
    {"rt/lowstate", &ADAM(LowState__desc), &low},
    {"rt/handstate", &ADAM(HandState__desc), &hands},
};
static struct command commands[] = {
    {"rt/lowcmd", &ADAM(LowCmd__desc), move_joints},
    {"rt/handcmd", &ADAM(HandCmd__desc), move_hands},
};

#endif

static bool join(dds_entity_t participant) {
  bool joined = participant > 0;
  for (size_t i = 0; i < COUNT(commands); i++) {
    dds_entity_t topic = dds_create_topic(participant, commands[i].type, commands[i].topic, NULL, NULL);
    joined &= (commands[i].reader = dds_create_reader(participant, topic, NULL, NULL)) > 0;
  }
  for (size_t i = 0; i < COUNT(reports); i++) {
    dds_entity_t topic = dds_create_topic(participant, reports[i].type, reports[i].topic, NULL, NULL);
    joined &= (reports[i].writer = dds_create_writer(participant, topic, NULL, NULL)) > 0;
  }
  return joined;
}

static void listen_to(const struct command *command) {
  void *samples[1] = {NULL};
  dds_sample_info_t info[1];
  while (dds_take(command->reader, samples, info, 1, 1) > 0) {
    if (info[0].valid_data) command->obey(samples[0]);
    dds_return_loan(command->reader, samples, 1);
  }
}

int main(int argc, char **argv) {
  (void)argc;
  dds_entity_t participant = dds_create_participant((dds_domainid_t)atoi(argv[1]), NULL, NULL);
  if (!join(participant)) return 1;
  prepare();
  printf("up\n");
  fflush(stdout);
  double due = now();
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  while (poll(&input, 1, 2) == 0) {
    for (size_t i = 0; i < COUNT(commands); i++) listen_to(&commands[i]);
    if (now() < due) continue;
    due = now() + EVERY;
    live();
    for (size_t i = 0; i < COUNT(reports); i++)
      if (dds_write(reports[i].writer, reports[i].message) < 0) printf("cannot write %s\n", reports[i].topic);
  }
  printf("alive to the end\n");
  dds_delete(participant);
  return 0;
}
