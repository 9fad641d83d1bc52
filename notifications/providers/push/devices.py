"""What vendors say of a device address, in codes of our own: whoever keeps the addresses acts on these.

After each of them the address is of no use any more, or never was, and should be forgotten; see docs/providers-push.md.
"""

from __future__ import annotations

UNREGISTERED = "unregistered"
"""The app was removed from the device, or no longer wants messages."""

EXPIRED = "device_token_expired"
"""The device has another token by now."""

INVALID = "device_token_invalid"
"""It never was one, or belongs to the vendor's other environment (development, production)."""

FOREIGN = "device_token_of_other_app"
"""It is one of another app or another sender than the configured one."""
