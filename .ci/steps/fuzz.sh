# The core against damaged and random input, for a minute, and its tests under AddressSanitizer.
fuzz/run 60
fuzz/sanitize
