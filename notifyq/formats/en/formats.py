"""English, with times that can be compared with a log. All are UTC, and say so; console.js
shows them in the reader's zone."""

DATE_FORMAT = "Y-m-d"
TIME_FORMAT = "H:i:s"
DATETIME_FORMAT = r"Y-m-d H:i:s \U\T\C"
