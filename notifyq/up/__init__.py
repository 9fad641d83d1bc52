"""`manage.py up`: the whole service on one machine, with something delivered to look at. For trying and developing."""
