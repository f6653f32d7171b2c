"""An observation made of whatever an executor returned."""
