"""Problems of contact beyond a floor, with answers in closed form or published; each is a page with its geometry typed once."""
