"""What one execution of each IR block costs: instructions counted in PTX or machine code, as steps of a scoreboard."""
