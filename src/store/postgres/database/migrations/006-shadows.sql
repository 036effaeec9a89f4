-- The differences of each shadow from the runs of its workflow. `code`: hash of the shadow; `book`: JSON.
CREATE TABLE shadow_book (
  workflow    text COLLATE "C" NOT NULL,
  code        text COLLATE "C" NOT NULL,
  since       bigint NOT NULL,
  book        text COLLATE "C" NOT NULL,
  version     bigint NOT NULL,
  PRIMARY KEY (workflow, code)
);
