"""Take one person out of everything that the package keeps, and leave a receipt without her."""
