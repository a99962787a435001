"""Where does it fail?"""
