"""Every rule of the language: one file that keeps it and one that breaks it, with the exact place of the finding.

`¶` stands before the character at which the finding must be; it is removed before the file is checked.
Nodes are written without head; they are put below `root:` of an otherwise empty file.
"""

import re

import pytest

from tests.treefile.conftest import CheckText, whole

READY = "- SetFsm: {state: ready}\n- SwitchUpperControl: {enabled: true}\n"
STAND = "- SetFsm: {state: pd_stand}\n"

# rule, robot, code of the finding, a file that keeps it, a file that breaks it
RULES: list[tuple[str, str | None, str, str, str]] = [
    # The head of a file
    ("a file needs tree and root", None, "missing-key", "tree: t\nroot: [Log: {text: a}]\n", "¶root: [Log: {text: a}]\n"),
    ("a file has no other keys", None, "unknown-key", "tree: t\nroot: [ClearErrors]\n", "tree: t\n¶rot: 1\nroot: [ClearErrors]\n"),
    ("a tree has a name", None, "bad-name", "tree: fetch_box-2\nroot: [ClearErrors]\n", "tree: ¶fetch box\nroot: [ClearErrors]\n"),
    ("a file is a mapping", None, "not-a-tree", "tree: t\nroot: [ClearErrors]\n", "¶- ClearErrors\n"),
    ("the root is not empty", None, "missing-value", "tree: t\nroot: [ClearErrors]\n", "tree: t\n¶root:\n"),
    ("a robot must exist", None, "unknown-robot", "tree: t\nrobot: atom_w\nroot: [ClearErrors]\n", "tree: t\nrobot: ¶atom_x\nroot: [ClearErrors]\n"),
    ("words for later are reserved", None, "reserved", "tree: t\nroot: [ClearErrors]\n", "tree: t\n¶parts: {}\nroot: [ClearErrors]\n"),
    ("require takes conditions", None, "not-a-condition", "tree: t\nrequire: [battery.level > 15 %]\nroot: [ClearErrors]\n", "tree: t\nrequire:\n  - ¶battery.level\nroot: [ClearErrors]\n"),
    ("pause needs when and until", None, "missing-value", "tree: t\npause: {when: pad.b, until: pad.a}\nroot: [ClearErrors]\n", "tree: t\n¶pause: {when: pad.b}\nroot: [ClearErrors]\n"),
    ("pause has only these keys", None, "unknown-key", "tree: t\npause: {when: pad.b, until: pad.a for 1 s}\nroot: [ClearErrors]\n", "tree: t\npause: {when: pad.b, until: pad.a, ¶untill: pad.a}\nroot: [ClearErrors]\n"),
    # Parameters of a tree
    ("a parameter has a known type", None, "unknown-type", "tree: t\nparams: {p: {type: angular speed}}\nroot: [ClearErrors]\n", "tree: t\nparams: {p: {type: ¶angel}}\nroot: [ClearErrors]\n"),
    ("a choice lists its words", None, "unknown-type", "tree: t\nparams: {p: {type: 'one of [a, b]', default: b}}\nroot: [ClearErrors]\n", "tree: t\nparams: {p: {type: ¶'one of []'}}\nroot: [ClearErrors]\n"),
    ("a list says of what", None, "unknown-type", "tree: t\nparams: {p: {type: list of tag, default: [1, 12]}}\nroot: [ClearErrors]\n", "tree: t\nparams: {p: {type: ¶list of things}}\nroot: [ClearErrors]\n"),
    ("a default has the type", None, "unit-missing", "tree: t\nparams: {p: {type: length, default: 20 cm}}\nroot: [ClearErrors]\n", "tree: t\nparams: {p: {type: length, default: ¶20}}\nroot: [ClearErrors]\n"),
    ("a default is one of the choices", None, "not-a-choice", "tree: t\nparams:\n  p:\n    type: one of [a, b]\n    default: a\nroot: [ClearErrors]\n", "tree: t\nparams:\n  p:\n    type: one of [a, b]\n    default: ¶c\nroot: [ClearErrors]\n"),
    ("a default is known before the run", None, "not-constant", "tree: t\nparams: {p: {type: percent, default: 2 * 10 %}}\nroot: [ClearErrors]\n", "tree: t\nparams: {p: {type: percent, default: ¶battery.level}}\nroot: [ClearErrors]\n"),
    ("a parameter needs a type", None, "missing-type", "tree: t\nparams: {p: {type: int}}\nroot: [ClearErrors]\n", "tree: t\nparams: {¶p: {default: 3}}\nroot: [ClearErrors]\n"),
    ("a parameter has only these keys", None, "unknown-key", "tree: t\nparams: {p: {type: int, help: how many}}\nroot: [ClearErrors]\n", "tree: t\nparams: {p: {type: int, ¶defualt: 3}}\nroot: [ClearErrors]\n"),
    ("a parameter is a mapping", None, "wrong-kind", "tree: t\nparams: {p: {type: int}}\nroot: [ClearErrors]\n", "tree: t\nparams: {p: ¶int}\nroot: [ClearErrors]\n"),
    ("a parameter is not a word of the language", None, "bad-name", "tree: t\nparams: {p: {type: int}}\nroot: [ClearErrors]\n", "tree: t\nparams: {¶timeout: {type: int}}\nroot: [ClearErrors]\n"),
    # Kinds of nodes
    ("a node exists", None, "unknown-node", "- ClearErrors", "- ¶ClaerErrors"),
    ("a node with parameters exists", None, "unknown-node", "- Wait: {time: 1 s}", "- ¶Wiat: {time: 1 s}"),
    ("a node has a kind", None, "no-kind", "- Wait: {time: 1 s}\n  name: rest", "- ¶name: rest"),
    ("a node has one kind", None, "two-kinds", "- ClearErrors:\n- Wait: {time: 1 s}", "- ClearErrors:\n  ¶Wait: {time: 1 s}"),
    ("every dash has a node", None, "empty-node", "- ClearErrors", "- ClearErrors\n-¶"),
    ("a kind needs a value", None, "missing-value", "- sequence: [ClearErrors]", "- ¶sequence"),
    ("a sequence has children", None, "no-children", "- sequence: [ClearErrors]", "- sequence: ¶[]"),
    ("a selector has a list", None, "missing-dash", "- selector: [ClearErrors]", "- selector:\n    ¶ClearErrors:\n    timeout: 1 s"),
    ("a later kind is reserved", None, "reserved", "- if: pad.a\n  then: [ClearErrors]", "- ¶switch: pad.a"),
    ("memory belongs to sequence and selector", None, "not-of-this-kind", "- sequence: [CheckEmergency, ClearErrors]\n  memory: false", "- ClearErrors:\n  ¶memory: false"),
    ("succeed belongs to parallel", None, "not-of-this-kind", "- parallel: [CheckEmergency, ClearErrors]\n  succeed: any", "- sequence: [ClearErrors]\n  ¶succeed: any"),
    ("with belongs to use", None, "not-of-this-kind", "- ClearErrors", "- ClearErrors:\n  ¶with: {a: 1}"),
    ("then belongs to if", None, "not-of-this-kind", "- if: pad.a\n  then: [ClearErrors]", "- check: pad.a\n  ¶then: [ClearErrors]"),
    ("memory is true or false", None, "not-a-boolean", "- sequence: [CheckEmergency, ClearErrors]\n  memory: true", "- sequence: [CheckEmergency, ClearErrors]\n  memory: ¶no"),
    ("without memory a sequence looks first", None, "not-a-look", "- sequence:\n    - check: battery.level > 15 %\n    - CheckEmergency\n    - MoveToTag: {tag: 12}\n  memory: false", "- sequence:\n    - ¶ClearErrors\n    - MoveToTag: {tag: 12}\n  memory: false"),
    ("without memory a selector looks first", None, "not-a-look", "- selector:\n    - sequence: [CheckEmergency, MoveToTag: {tag: 1}]\n    - CheckErrors\n    - ClearErrors\n  memory: false", "- selector:\n    - ¶sequence: [ClearErrors]\n    - MoveToTag: {tag: 12}\n  memory: false"),
    ("a question is not a look", None, "not-a-look", "- sequence: [CheckEmergency, ClearErrors]\n  memory: false", "- sequence:\n    - ¶Ask: {question: Go?, choices: [go]}\n    - ClearErrors\n  memory: false"),
    ("succeed counts the children", None, "bad-policy", "- parallel: [CheckEmergency, CheckErrors]\n  succeed: 2", "- parallel: [CheckEmergency, CheckErrors]\n  succeed: ¶3"),
    ("succeed is all, any or a number", None, "bad-policy", "- parallel: [CheckEmergency, CheckErrors]\n  succeed: all", "- parallel: [CheckEmergency, CheckErrors]\n  succeed: ¶most"),
    ("fail is all, any or a number", None, "bad-policy", "- parallel: [CheckEmergency, CheckErrors]\n  fail: any", "- parallel: [CheckEmergency, CheckErrors]\n  fail: ¶0"),
    ("if needs then", None, "missing-then", "- if: pad.a\n  then: [ClearErrors]\n  else: [CheckErrors]", "- ¶if: pad.a\n  else: [CheckErrors]"),
    ("if takes a condition", None, "not-a-condition", "- if: battery.level < 20 %\n  then: [ClearErrors]", "- if: ¶battery.level\n  then: [ClearErrors]"),
    ("check takes a condition", None, "unknown-word", "- check: emergency.any", "- check: ¶emergency"),
    ("wait_for takes a condition", None, "wrong-kind", "- wait_for: pad.a for 1 s\n  timeout: 1 min", "- wait_for: ¶[pad.a]\n  timeout: 1 min"),
    # Leaves
    ("a parameter exists", None, "unknown-parameter", "- MoveToTag: {tag: 12, heading: 90 deg}", "- MoveToTag: {tag: 12, ¶headign: 90 deg}"),
    ("a required parameter is given", None, "missing-parameter", "- MoveToTag: {tag: 12}", "- ¶MoveToTag: {heading: 90 deg}"),
    ("a misspelt parameter is not missing as well", None, "unknown-parameter", "- MoveToTag: {tag: 12}", "- MoveToTag: {¶tga: 12}"),
    ("parameters are named", None, "wrong-kind", "- Wait: {time: 1 s}", "- Wait: ¶1 s"),
    ("a leaf without parameters gets none", None, "no-parameters", "- ClearErrors:", "- ClearErrors: ¶all"),
    ("a bare leaf needs its parameters, too", None, "missing-parameter", "- Stop", "- ¶MoveToTag"),
    ("exactly one of several is given", "gr2", "one-of", "- SetFsm: {state: walk}\n- SetVelocitySource: {source: navigation}\n- Walk: {forward: 0.2 m/s, time: 2 s}", "- SetFsm: {state: walk}\n- SetVelocitySource: {source: navigation}\n- Walk: {forward: 0.2 m/s, time: 2 s, ¶distance: 1 m}"),
    ("at least one of several is given", "gr2", "missing-parameter", "- SetFsm: {state: walk}\n- SetVelocitySource: {source: navigation}\n- Walk: {forward: 0.2 m/s, distance: 2 m}", "- SetFsm: {state: walk}\n- SetVelocitySource: {source: navigation}\n- ¶Walk: {forward: 0.2 m/s}"),
    ("Set has names with expressions", None, "missing-parameter", "- Set: {level: battery.level}", "- ¶Set"),
    ("Set takes expressions", None, "unknown-word", "- Set: {level: battery.level}", "- Set: {level: ¶high}"),
    # Modifiers
    ("a modifier exists", None, "unknown-modifier", "- ClearErrors:\n  timeout: 3 s", "- ClearErrors:\n  ¶timout: 3 s"),
    ("a modifier is not a parameter", None, "modifier-inside", "- MoveToTag: {tag: 12}\n  timeout: 3 s", "- MoveToTag:\n    tag: 12\n    ¶timeout: 3 s"),
    ("a parameter is not a modifier", None, "parameter-outside", "- MoveToTag:\n    tag: 12", "- ¶MoveToTag:\n  ¶tag: 12"),
    ("a modifier needs a value", None, "missing-value", "- ClearErrors:\n  delay: 1 s", "- ClearErrors:\n  ¶delay:"),
    ("a timeout has a unit", None, "unit-missing", "- ClearErrors:\n  timeout: 5 s", "- ClearErrors:\n  timeout: ¶5"),
    ("a timeout is longer than nothing", None, "out-of-range", "- ClearErrors:\n  timeout: 1 ms", "- ClearErrors:\n  timeout: ¶0 s"),
    ("m is metres", None, "wrong-unit", "- ClearErrors:\n  timeout: 2 min", "- ClearErrors:\n  timeout: ¶2 m"),
    ("cooldown is a duration", None, "wrong-unit", "- ClearErrors:\n  cooldown: 10 s", "- ClearErrors:\n  cooldown: ¶10 deg"),
    ("result is one of three words", None, "not-a-choice", "- ClearErrors:\n  result: inverted", "- ClearErrors:\n  result: ¶invert"),
    ("retry is a number", None, "not-a-number", "- ClearErrors:\n  retry: 3", "- ClearErrors:\n  retry: ¶often"),
    ("retry is at least one", None, "out-of-range", "- ClearErrors:\n  retry: {times: 1}", "- ClearErrors:\n  retry: {times: ¶0}"),
    ("retry has only these keys", None, "unknown-key", "- ClearErrors:\n  retry: {times: 1, wait: 1 s}", "- ClearErrors:\n  retry: {times: 1, ¶pause: 1 s}"),
    ("retry needs times", None, "missing-value", "- ClearErrors:\n  retry: {times: 1, wait: 1 s}", "- ClearErrors:\n  retry: ¶{wait: 1 s}"),
    ("repeat is a number, forever or until", None, "not-a-number", "- ClearErrors:\n  repeat: forever", "- ClearErrors:\n  repeat: ¶always"),
    ("repeat until takes a condition", None, "unknown-field", "- ClearErrors:\n  repeat: {until: errors.count < 1}", "- ClearErrors:\n  repeat: {until: ¶error.count < 1}"),
    ("repeat has only until", None, "unknown-key", "- ClearErrors:\n  repeat: {until: pad.a}", "- ClearErrors:\n  repeat: {until: pad.a, ¶times: 3}"),
    ("for_each has one name with a list", None, "wrong-kind", "- MoveToTag: {tag: $t}\n  for_each: {t: [1, 12]}", "- ClearErrors:\n  for_each: ¶[1, 12]"),
    ("for_each has values of one type", None, "two-types", "- Wait: {time: $t}\n  for_each: {t: [1 s, 500 ms]}", "- Wait: {time: 1 s}\n  for_each: {t: ¶[1 s, 12]}"),
    ("the values of for_each fit where they are used", "atom_w", "unknown-tag", "- MoveToTag: {tag: $t}\n  for_each: {t: [1, 12]}\n  when: fsm.state == ready", "- MoveToTag: {tag: ¶$t}\n  for_each: {t: [1, 99]}\n  when: fsm.state == ready"),
    ("the words of for_each fit where they are used", None, "not-a-choice", "- WaitForButton: {button: $b}\n  for_each: {b: [a, x]}\n  timeout: 1 min", "- WaitForButton: {button: ¶$b}\n  for_each: {b: [a, z]}\n  timeout: 1 min"),
    ("confirm is a text", None, "wrong-kind", "- ClearErrors:\n  confirm: Nobody near?", "- ClearErrors:\n  confirm: ¶[Nobody near?]"),
    ("while takes a condition", None, "not-a-condition", "- ClearErrors:\n  while: battery.level > 10 % for 2 s", "- ClearErrors:\n  while: ¶battery.level"),
    ("for stands only where it may", None, "for-not-here", "- ClearErrors:\n  until: pad.a for 2 s", "- ClearErrors:\n  when: pad.a ¶for 2 s"),
    ("after for stands a duration", None, "for-not-here", "- ClearErrors:\n  until: pad.a for 2 s", "- ClearErrors:\n  until: pad.a for ¶2 m"),
    # finally
    ("finally asks nobody", None, "not-in-finally", "- ClearErrors:\n  finally: [Log: {text: $outcome}]", "- ClearErrors:\n  finally:\n    - ¶Ask: {question: Go?, choices: [go]}"),
    ("finally confirms nothing", None, "not-in-finally", "- ClearErrors:\n  finally: [CheckErrors]", "- ClearErrors:\n  finally:\n    - CheckErrors:\n      ¶confirm: Sure?"),
    ("finally does not repeat for ever", None, "not-in-finally", "- ClearErrors:\n  finally: [{CheckErrors: , repeat: 3}]", "- ClearErrors:\n  finally:\n    - CheckErrors:\n      ¶repeat: forever"),
    ("finally waits only with a timeout", None, "not-in-finally", "- ClearErrors:\n  finally: [{wait_for: pad.a, timeout: 3 s}]", "- ClearErrors:\n  finally:\n    - ¶wait_for: pad.a"),
    ("finally waits at most half a minute", None, "finally-too-long", "- ClearErrors:\n  finally: [Wait: {time: 3 s}]", "- ClearErrors:\n  finally:\n    - ¶Wait: {time: 1 min}"),
    ("$outcome is known in finally only", None, "unknown-name", "- ClearErrors:\n  finally: [Log: {text: It was a $outcome}]", "- Log: {text: It was a ¶$outcome}"),
    ("$attempt is known in retry only", None, "unknown-name", "- Log: {text: 'Attempt $attempt'}\n  retry: 3", "- Log: {text: 'Attempt ¶$attempt'}"),
    # Values
    ("an int is whole", None, "not-an-integer", "tree: t\nparams: {p: {type: int, default: 3}}\nroot: [ClearErrors]\n", "tree: t\nparams: {p: {type: int, default: ¶3.5}}\nroot: [ClearErrors]\n"),
    ("a boolean is true or false", None, "not-a-boolean", "- EnableMotors: {enabled: true}", "- EnableMotors: {enabled: ¶yes}"),
    ("a boolean may be an expression", None, "unknown-field", "- EnableMotors: {enabled: not emergency.any}", "- EnableMotors: {enabled: not ¶emergency.all}"),
    ("a quantity has the right unit", None, "wrong-unit", "- MoveToTag: {tag: 1, heading: 90 deg}", "- MoveToTag: {tag: 1, heading: ¶90 cm}"),
    ("units are written as they are", None, "wrong-unit", "- Wait: {time: 90 s}", "- Wait: {time: ¶90 seconds}"),
    ("degrees are written deg", None, "wrong-unit", "- MoveToTag: {tag: 1, heading: 90deg}", "- MoveToTag: {tag: 1, heading: ¶90°}"),
    ("a number is in its range", None, "out-of-range", "- HandGrasp: {hand: left, grip: 100 %}", "- HandGrasp: {hand: left, grip: ¶101 %}"),
    ("an expression has the right unit", None, "wrong-type", "- Wait: {time: 2 * 3 s}", "- Wait: {time: ¶2 * 3 m}"),
    ("a calculated number is in its range", None, "out-of-range", "- HandGrasp: {hand: left, grip: 2 * 40 %}", "- HandGrasp: {hand: left, grip: ¶2 * 60 %}"),
    ("the decimal sign is a point", None, "decimal-comma", "- Wait: {time: 1.5 s}", "- Wait:\n    time: ¶1,5 s"),
    ("numbers do not begin with zero", None, "leading-zero", "- MoveToTag: {tag: 7}", "- MoveToTag: {tag: ¶007}"),
    ("a choice is one of its words", None, "not-a-choice", "- WaitForButton: {button: a}\n  timeout: 1 min", "- WaitForButton: {button: ¶z}\n  timeout: 1 min"),
    ("a hand is left or right", None, "unknown-hand", "- HandOpen: {hand: left}", "- HandOpen: {hand: ¶lefft}"),
    ("a list is a list", None, "wrong-kind", "- Ask: {question: Go?, choices: [go, stay]}", "- Ask: {question: Go?, choices: ¶go}"),
    ("items of a list have the type", None, "unit-missing", "- HandPose: {hand: left, fingers: [0 %, 10 %]}", "- HandPose: {hand: left, fingers: [0 %, ¶10]}"),
    ("a text is not a list", None, "wrong-kind", "- Log: {text: a}", "- Log: {text: ¶[a]}"),
    ("a dollar is written twice", None, "lone-dollar", "- Log: {text: It costs $$5}", "- Log: {text: It costs ¶$5}"),
    ("a value is given", None, "missing-value", "- Log: {text: a}", "- Log:\n    text:¶"),
    # Names
    ("a name exists", None, "unknown-name", "tree: t\nparams: {place: {type: tag, default: 1}}\nroot:\n  - MoveToTag: {tag: $place}\n", "tree: t\nparams: {place: {type: tag, default: 1}}\nroot:\n  - MoveToTag: {tag: ¶$palce}\n"),
    ("a name in a text exists", None, "unknown-name", "tree: t\nparams: {n: {type: int}}\nroot:\n  - Log: {text: Round $n}\n", "tree: t\nroot:\n  - Log: {text: Round ¶$n}\n"),
    ("a name has the right type", None, "wrong-type", "tree: t\nparams: {n: {type: duration}}\nroot:\n  - Wait: {time: $n}\n", "tree: t\nparams: {n: {type: length}}\nroot:\n  - Wait: {time: ¶$n}\n"),
    ("a parameter's value is in the leaf's range", None, "out-of-range", "tree: t\nparams: {g: {type: percent, default: 50 %}}\nroot:\n  - HandGrasp: {hand: left, grip: $g}\n", "tree: t\nparams: {g: {type: percent, default: 0 %}}\nroot:\n  - HandGrasp: {hand: left, grip: ¶$g}\n"),
    ("only a leaf with a result is saved", None, "no-result", "- HandGrasp: {hand: left}\n  save: grip", "- HandOpen: {hand: left}\n  ¶save: grip"),
    ("a sequence has no result", None, "no-result", "- Ask: {question: Go?, choices: [go]}\n  save: answer", "- sequence: [ClearErrors]\n  ¶save: answer"),
    ("a saved name is a name", None, "bad-name", "- HandGrasp: {hand: left}\n  save: grip_1", "- HandGrasp: {hand: left}\n  save: ¶grip-1"),
    ("a saved name is no parameter", None, "name-taken", "tree: t\nparams: {p: {type: int}}\nroot:\n  - Set: {q: 1}\n", "tree: t\nparams: {p: {type: int}}\nroot:\n  - Set: {¶p: 1}\n"),
    ("a name has one type in a file", None, "two-types", "- Set: {a: 1}\n- Set: {a: 2}", "- Set: {a: 1}\n- Set: {¶a: pad.a}"),
    ("a name is saved before it is read", None, "not-saved", "- Set: {a: 1}\n- check: $a == 1", "- check: ¶$a == 1\n- Set: {a: 1}"),
    ("a name is saved on every path", None, "not-saved", "- if: pad.a\n  then: [Set: {a: 1}]\n  else: [Set: {a: 2}]\n- check: $a == 1", "- if: pad.a\n  then: [Set: {a: 1}]\n- check: ¶$a == 1"),
    ("a skipped node saves nothing", None, "not-saved", "- Set: {a: 1}\n- check: $a == 1", "- Set: {a: 1}\n  when: pad.a\n- check: ¶$a == 1"),
    ("a selector saves what every child saves", None, "not-saved", "- selector:\n    - sequence: [Set: {a: 1}, CheckErrors]\n    - Set: {a: 2}\n- check: $a == 1", "- selector:\n    - CheckErrors\n    - Set: {a: 2}\n- check: ¶$a == 1"),
    ("a failed leaf has saved its result", None, "not-saved", "- selector:\n    - HandGrasp: {hand: left}\n      save: grip\n    - check: $grip == nothing", "- selector:\n    - HandGrasp: {hand: left}\n      save: grip\n      while: battery.level > 5 %\n    - check: ¶$grip == nothing"),
    ("a parallel that waits for all has saved all", None, "not-saved", "- parallel:\n    - Set: {a: 1}\n    - CheckErrors\n- check: $a == 1", "- parallel:\n    - Set: {a: 1}\n    - CheckErrors\n  succeed: any\n- check: ¶$a == 1"),
    ("two branches do not save one name", None, "saved-twice", "- parallel:\n    - Set: {a: 1}\n    - Set: {b: 2}", "- parallel:\n    - Set: {a: 1}\n    - Set: {¶a: 2}"),
    ("a result is compared with its words", None, "not-a-choice", "- HandGrasp: {hand: left}\n  save: grip\n- check: $grip == object", "- HandGrasp: {hand: left}\n  save: grip\n- check: $grip == ¶objekt"),
    ("an answer is one of the choices", None, "not-a-choice", "- Ask: {question: Go?, choices: [go, stay], fail_on: [abort]}\n  save: a\n- check: $a == stay", "- Ask: {question: Go?, choices: [go, stay], fail_on: [abort]}\n  save: a\n- check: $a == ¶leave"),
    ("repeat until sees what the round has saved", None, "not-saved", "- Set: {a: errors.count}\n  repeat: {until: $a < 1}", "- Set: {a: errors.count}\n  until: ¶$a < 1"),
    # Expressions
    ("a field exists", None, "unknown-field", "- check: battery.level > 15 %", "- check: ¶batery.level > 15 %"),
    ("a word is a value of the other side", "gr2", "not-a-choice", "- check: fsm.state == pd_stand", "- check: fsm.state == ¶pdstand"),
    ("a comparison has a unit", None, "unit-missing", "- check: battery.level > 15 %", "- check: battery.level > ¶15"),
    ("like is compared with like", None, "unlike", "- check: base.x > 1 m", "- check: base.x > ¶1 s"),
    ("a boolean is not compared with a number", None, "unlike", "- check: pad.a == true", "- check: pad.a == ¶1"),
    ("a measured quantity is never equal", None, "equal-quantity", "- check: base.x > 1 m", "- check: base.x ¶== 1 m"),
    ("a whole number may be equal", None, "unknown-field", "- check: errors.count == 0", "- check: ¶errors.counts == 0"),
    ("words have no order", None, "not-ordered", "- check: velocity.source == joystick", "- check: velocity.source ¶> joystick"),
    ("a comparison can be false", None, "always", "- check: battery.level > 0 %", "- check: ¶battery.level >= 0 %"),
    ("a comparison can be true", None, "always", "- check: battery.level < 100 %", "- check: ¶battery.level > 100 %"),
    ("== is written twice", None, "wrong-operator", "- check: errors.count == 2", "- check: errors.count ¶= 2"),
    ("and is a word", None, "wrong-operator", "- check: pad.a and pad.b", "- check: pad.a ¶&& pad.b"),
    ("or is a word", None, "wrong-operator", "- check: pad.a or pad.b", "- check: pad.a ¶|| pad.b"),
    ("not is a word", None, "wrong-operator", "- check: pad.a and not pad.b", "- check: pad.a and ¶!pad.b"),
    ("not at the beginning is no tag", None, "tag", "- check: not pad.b", "- check: ¶!pad.b"),
    ("parentheses are closed", None, "expression", "- check: (pad.a or pad.b)", "- check: ¶(pad.a or pad.b"),
    ("parentheses are opened", None, "expression", "- check: (pad.a or pad.b)", "- check: pad.a or pad.b¶)"),
    ("an expression is complete", None, "expression", "- check: pad.a", "- check: pad.a and¶"),
    ("there are no calls", None, "expression", "- check: base.x > 1 m", "- check: ¶abs(base.x) > 1 m"),
    ("unlike things are not added", None, "unlike", "- check: base.x + 1 m > 3 m", "- check: base.x ¶+ 1 s > 3 m"),
    ("a quotient has its unit", None, "unlike", "- check: base.x / 2 s > 1 m/s", "- check: base.x / 2 s > ¶1 m"),
    ("conditions are joined, not numbers", None, "not-a-condition", "- check: pad.a or errors.count > 2", "- check: pad.a or ¶errors.count"),
    ("nothing is divided by zero", None, "not-finite", "- check: base.x > 1 m / 2", "- check: base.x > 1 m ¶/ 0"),
    ("a chain compares like with like", None, "unlike", "- check: 1 m < base.x < 2 m", "- check: 1 m < base.x < ¶2 s"),
    ("a capability exists", None, "unknown-field", "- check: robot.has.hands", "- check: ¶robot.has.hand"),
    ("robot constants are these", None, "unknown-field", "- check: robot.family == atom", "- check: ¶robot.colour == red"),
    # What this robot cannot do
    ("the robot has the capability", "atom_w", "lacks-capability", "- CheckEmergency", "- ¶StandPose: {height: 1 cm}"),
    ("a leaf exists on the family", "gr2", "wrong-family", "- SetFsm: {state: walk}\n- SetUpperFsm: {state: remote}", "- SetFsm: {state: walk}\n- ¶SwitchUpperControl: {enabled: true}"),
    ("the robot has the field", "gr2", "lacks-capability", "- check: body.stable", "- check: ¶battery.level > 15 %"),
    ("the robot has the state", "atom_w", "unknown-fsm_state", "- SetFsm: {state: ready}", "- SetFsm: {state: ¶pd_stand}"),
    ("the robot knows the tag", "atom_w", "unknown-tag", READY + "- MoveToTag: {tag: 12}", READY + "- MoveToTag: {tag: ¶13}"),
    ("the robot knows the tag's name", "atom_w", "unknown-tag", READY + "- MoveToTag: {tag: shelf}", READY + "- MoveToTag: {tag: ¶shelv}"),
    ("the robot knows the pose", "atom_w", "unknown-pose", READY + "- MoveJoints: {pose: home}", READY + "- MoveJoints: {pose: ¶hoem}"),
    ("the robot has the group", "atom_w", "unknown-group", READY + "- MoveJoints: {group: head, angles: {head_yaw: 10 deg}}", READY + "- MoveJoints: {group: ¶tail, angles: {head_yaw: 10 deg}}"),
    ("the robot has the joint", "atom_w", "unknown-joint", READY + "- MoveJoints: {angles: {head_yaw: 10 deg}}", READY + "- MoveJoints: {angles: {¶head_yew: 10 deg}}"),
    ("a joint stays within its limits", "atom_w", "out-of-range", READY + "- MoveJoints: {angles: {head_yaw: 80 deg}}", READY + "- MoveJoints: {angles: {head_yaw: ¶100 deg}}"),
    ("a target stays within the robot's range", "gr2", "out-of-range", STAND + "- StandPose: {height: -10 cm}", STAND + "- StandPose: {height: ¶-30 cm}"),
    ("what is not for this robot is passed over", "atom_w", "lacks-capability", "- StandPose: {height: -90 cm}\n  when: robot.has.stand_pose", "- ¶StandPose: {height: 1 cm}\n  unless: robot.has.stand_pose"),
    ("a branch not for this robot is passed over", "atom_w", "lacks-capability", "- if: robot.family == aurora\n  then: [StandPose: {height: 1 cm}]\n  else: [ClearErrors]", "- if: robot.family == atom\n  then:\n    - ¶StandPose: {height: 1 cm}\n  else: [ClearErrors]"),
    ("a field not for this robot is passed over", "gr2", "lacks-capability", "- check: robot.has.battery and battery.level > 15 %", "- check: robot.has.hands and ¶battery.level > 15 %"),
    # What cannot work in this order
    ("a leaf stands where it is allowed", "gr2", "never-allowed", STAND + "- StandPose: {height: 1 cm}", "- SetFsm: {state: walk}\n- ¶StandPose: {height: 1 cm}"),
    ("a mode is known before it is needed", "gr2", "may-not-be-allowed", STAND + "- StandPose: {height: 1 cm}", "- ¶StandPose: {height: 1 cm}"),
    ("a condition narrows what is possible", "gr2", "may-not-be-allowed", "- StandPose: {height: 1 cm}\n  when: fsm.state == pd_stand", "- ¶StandPose: {height: 1 cm}\n  when: fsm.state != walk"),
    ("a check narrows what is possible", "gr2", "may-not-be-allowed", "- check: fsm.state == pd_stand and body.stable\n- StandPose: {height: 1 cm}", "- check: fsm.state == pd_stand or body.stable\n- ¶StandPose: {height: 1 cm}"),
    ("waiting for a state is as good as setting it", "gr2", "never-allowed", "- WaitForFsm: {state: pd_stand}\n- StandPose: {height: 1 cm}", "- WaitForFsm: {state: walk}\n- ¶StandPose: {height: 1 cm}"),
    ("upper-body control is switched on", "atom_w", "never-allowed", READY + "- MoveJoints: {pose: home}", "- SetFsm: {state: ready}\n- SwitchUpperControl: {enabled: false}\n- ¶MoveJoints: {pose: home}"),
    ("damping switches the upper body off", "atom_w", "never-allowed", READY + "- MoveJoints: {pose: home}", READY + "- SetFsm: {state: damping}\n- SetFsm: {state: ready}\n- ¶MoveJoints: {pose: home}"),
    ("walking follows our velocity", "gr2", "never-allowed", "- SetFsm: {state: walk}\n- SetVelocitySource: {source: navigation}\n- Walk: {forward: 0.2 m/s, time: 2 s}", "- SetFsm: {state: walk}\n- SetVelocitySource: {source: joystick}\n- ¶Walk: {forward: 0.2 m/s, time: 2 s}"),
    ("one of several alternatives is enough", "gr2", "never-allowed", "- SetFsm: {state: walk}\n- SetUpperFsm: {state: remote}\n- MoveJoints: {pose: home}", "- SetFsm: {state: walk}\n- SetUpperFsm: {state: act}\n- ¶MoveJoints: {pose: home}"),
    ("after a failed change both are possible", "gr2", "may-not-be-allowed", STAND + "- selector:\n    - CheckContact: {foot: both}\n    - WaitStable\n- StandPose: {height: 1 cm}", STAND + "- SetFsm: {state: walk}\n  result: success\n- ¶StandPose: {height: 1 cm}"),
    ("after an interrupted change both are possible", "gr2", "may-not-be-allowed", STAND + "- WaitStable:\n  until: emergency.any\n- StandPose: {height: 1 cm}", STAND + "- SetFsm: {state: walk}\n  until: emergency.any\n- ¶StandPose: {height: 1 cm}"),
    ("a loop meets its own end", "gr2", "may-not-be-allowed", STAND + "- sequence:\n    - StandPose: {height: 1 cm}\n    - SetFsm: {state: walk}\n    - SetFsm: {state: pd_stand}", STAND + "- sequence:\n    - ¶StandPose: {height: 1 cm}\n    - SetFsm: {state: walk}\n  repeat: 2"),
    ("a branch meets what its neighbour changes", "gr2", "may-not-be-allowed", STAND + "- parallel:\n    - StandPose: {height: 1 cm}\n    - WaitStable", STAND + "- parallel:\n    - sequence: [¶StandPose: {height: 1 cm}]\n    - sequence: [¶SetFsm: {state: walk}]"),
    ("a failed remote session may still be open", "atom_w", "may-not-be-allowed", READY + "- DriveBase: {forward: 0.1 m/s, time: 1 s}\n- MoveToTag: {tag: 1}", READY + "- selector:\n    - DriveBase: {forward: 0.1 m/s, time: 1 s}\n    - ¶MoveToTag: {tag: 1}"),
    ("finally may meet any state on the way", "gr2", "may-not-be-allowed", STAND + "- WaitStable:\n  finally: [StandPose: {height: 0 cm}]", STAND + "- SetFsm: {state: walk}\n  finally:\n    - ¶StandPose: {height: 0 cm}"),
    # What would collide
    ("two branches do not use one hand", "atom_w", "collision", READY + "- parallel:\n    - HandOpen: {hand: left}\n    - HandOpen: {hand: right}", READY + "- parallel:\n    - HandOpen: {hand: left}\n    - ¶HandGrasp: {hand: left}"),
    ("two branches do not move one arm", "atom_w", "collision", READY + "- parallel:\n    - MoveJoints: {group: left_arm, angles: {left_elbow_pitch: 10 deg}}\n    - MoveJoints: {group: head, angles: {head_yaw: 10 deg}}", READY + "- parallel:\n    - MoveJoints: {group: left_arm, angles: {left_elbow_pitch: 10 deg}}\n    - ¶MoveJoints: {group: right_arm, angles: {right_elbow_pitch: 10 deg}}"),
    ("two branches do not use one pose", "atom_w", "collision", READY + "- parallel:\n    - MoveJoints: {pose: home}\n    - MoveJoints: {pose: nod}", READY + "- parallel:\n    - MoveJoints: {pose: home}\n    - ¶PlayMotion: {file: wave.yaml}"),
    ("a branch is looked at to its depth", "atom_w", "collision", READY + "- parallel:\n    - sequence: [MoveToTag: {tag: 1}]\n    - sequence: [HandOpen: {hand: left}]", READY + "- parallel:\n    - sequence: [MoveToTag: {tag: 1}]\n    - sequence:\n        - CheckErrors\n        - ¶MoveToTag: {tag: 12}"),
    ("what a name decides may collide", "atom_w", "collision", READY + "- sequence:\n    - HandOpen: {hand: left}\n    - HandOpen: {hand: $h}\n      for_each: {h: [left, right]}", READY + "- parallel:\n    - HandOpen: {hand: left}\n    - ¶HandOpen: {hand: $h}\n      for_each: {h: [left, right]}"),
    # What would never end or never run
    ("nothing follows what never succeeds", None, "never-runs", "- ClearErrors:\n  repeat: 3\n- CheckErrors", "- ClearErrors:\n  repeat: forever\n- ¶CheckErrors"),
    ("nothing follows a certain failure", None, "never-runs", "- ClearErrors:\n  result: success\n- CheckErrors", "- ClearErrors:\n  result: failure\n- ¶CheckErrors"),
    ("a selector ends with what never fails", None, "never-runs", "- selector:\n    - ClearErrors\n    - Log: {text: no}", "- selector:\n    - Log: {text: no}\n    - ¶ClearErrors"),
    ("a selector tries what can fail", None, "never-runs", "- selector:\n    - ClearErrors\n    - CheckErrors", "- selector:\n    - ClearErrors:\n      result: success\n    - ¶CheckErrors"),
    ("a parallel can be met", None, "never-runs", "- parallel: [CheckErrors, {CheckEmergency: , repeat: forever}]\n  succeed: any\n- ClearErrors", "- parallel: [CheckErrors, {CheckEmergency: , repeat: forever}]\n- ¶ClearErrors"),
    ("nothing spins for ever", None, "spins", "- sequence: [CheckErrors, Wait: {time: 1 s}]\n  result: success\n  repeat: forever", "- ¶sequence: [Log: {text: tick}]\n  repeat: forever"),
    ("waiting ends at some time", None, "no-timeout", "- wait_for: pad.a\n  timeout: 1 min", "- ¶wait_for: pad.a"),
    ("a leaf that waits ends at some time", None, "no-timeout", "- WaitForButton: {button: a}\n  timeout: 1 min", "- ¶WaitForButton: {button: a}"),
    ("a timeout above is enough", None, "no-timeout", "- sequence:\n    - wait_for: pad.a\n  timeout: 1 min", "- sequence:\n    - ¶wait_for: pad.a"),
    # Syntax, as far as it looks like a tree
    ("there is a space after the colon of a leaf", None, "missing-space", "- SetFsm: {state: ready}", "- ¶SetFsm:{state: ready}"),
    ("there is a space after the colon in braces", None, "missing-space", "- SetFsm: {state: ready}", "- SetFsm: {¶state:ready}"),
    ("a text with a comma has quotes", None, "comma-in-text", "- Log: {text: 'Done, all of it'}", "- Log: {text: Done, ¶all of it}"),
    ("a text with a number sign has quotes", None, "comment-in-text", "- Log:\n    text: 'Box #3'", "- Log:\n    text: Box ¶#3"),
    ("a text with a colon has quotes", None, "needs-quotes", "- Log:\n    text: 'Done: all'", "- Log:\n    text: ¶Done: all"),
    ("a key stands once", None, "duplicate-key", "- Wait: {time: 1 s}\n  timeout: 2 s", "- Wait: {time: 1 s}\n  timeout: 2 s\n  ¶timeout: 3 s"),
    ("spaces are spaces", None, "odd-space", "- Wait: {time: 1 s}", "- Wait: {time: 1¶\u00a0s}"),
]  # fmt: skip


def marked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The file without marks, and the places the marks stood at."""
    text = text if re.match("¶?[a-z]+:", text) or text.startswith("¶- ClearErrors\n") else whole(text)
    places = []
    for number, line in enumerate(text.split("\n"), 1):
        while "¶" in line:
            places.append((number, line.index("¶") + 1))
            line = line.replace("¶", "", 1)
    return text.replace("¶", ""), places


@pytest.mark.parametrize(("robot", "keeps"), [rule[1:4:2] for rule in RULES], ids=[rule[0] for rule in RULES])
def test_a_file_that_keeps_the_rule_has_no_findings(check: CheckText, robot: str | None, keeps: str) -> None:
    result = check(keeps, robot)
    assert result.findings.render() == ""
    assert result.ok


@pytest.mark.parametrize(
    ("robot", "code", "breaks"), [(rule[1], rule[2], rule[4]) for rule in RULES], ids=[rule[0] for rule in RULES]
)
def test_a_file_that_breaks_the_rule_is_told_where(check: CheckText, robot: str | None, code: str, breaks: str) -> None:
    text, places = marked(breaks)
    findings = check(text, robot, raw=True).findings
    assert [(f.place.line, f.place.column) for f in findings.sorted()] == places, findings.render()
    assert code in [f.code for f in findings.sorted()]


def test_there_are_enough_of_them() -> None:
    assert len(RULES) >= 70
    assert len({rule[0] for rule in RULES}) == len(RULES)
