"""Ask language models for typed replies: endpoints, scripted models, and wrappers around both.

Wrappers go in this order: `CachedChat(PacedChat(BudgetedChat(chat, budget), pace), path)`. What is remembered neither
waits nor is paid for, and no budget is held by a call that waits for its turn.
"""
