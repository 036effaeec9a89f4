-- What keeps lists short however long the history is.

-- The deliveries of one endpoint, newest first.
CREATE INDEX delivery_endpoint ON delivery (endpoint_id, id);

-- The use of a window. The counts of runs, of which there are many, have a width of 0.
CREATE INDEX guard_use_slot ON guard_use (width, slot) WHERE width > 0;
