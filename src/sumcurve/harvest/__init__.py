"""What comes from elsewhere: packages of public archives, files of the hub, lists of Debian."""
