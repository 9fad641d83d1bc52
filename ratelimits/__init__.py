"""Limits on what one recipient gets: never more than N in any rolling window, under any number of workers.

Knows no other app: it speaks of buckets and of holders' ids.
"""
