"""What each detection, object and image adds to AP: AP with it minus AP without it, exactly."""
