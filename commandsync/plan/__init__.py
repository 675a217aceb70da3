"""What would be changed, and whether it may be: matching, changes, rules, the guard, hints."""
