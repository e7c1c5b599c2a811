"""Every sentence a user can see, in English and Norwegian bokmål, by code and key."""
