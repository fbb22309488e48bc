"""What a variant owes that holds by how it is made: no solver is asked."""
