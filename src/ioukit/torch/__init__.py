"""What needs PyTorch: ``pip install 'ioukit[torch]'``. Nothing else in ioukit imports it."""
