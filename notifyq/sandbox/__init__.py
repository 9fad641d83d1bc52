"""The sandbox provider: a real server that stands in for a vendor. Knows no app and no database of the product."""
