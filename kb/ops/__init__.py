"""What the verbs do, without parsing and printing: functions that take the opened fleet or a path, and return values.

A verb has the module of its name; what several verbs need (ask, judge, models, gold, ledgers) stands beside them.
"""
