"""`manage.py bench`: how fast the queue is here, beside what the same table allows a bare loop in the same run.

The command makes a scratch database on the configured server and runs `python -m notifyq.bench` on it, in a process of
its own with metrics of its own, so that nothing of the real installation is touched. It drops the database afterwards.
"""
