-- stock keeping
CREATE TABLE IF NOT EXISTS bins (
    bin_id   SERIAL PRIMARY KEY,
    aisle    TEXT NOT NULL,
    capacity INTEGER CHECK (capacity > 0)
);

create table public."pallets" (
    pallet_id bigint,
    bin_id integer references bins (bin_id)
);

CREATE UNIQUE INDEX pallets_bin_idx ON public."pallets" (bin_id);

CREATE TYPE pallet_state AS ENUM ('empty', 'full');

CREATE OR REPLACE VIEW free_bins AS
SELECT b.* FROM bins b LEFT JOIN pallets p USING (bin_id) WHERE p.pallet_id IS NULL;

CREATE MATERIALIZED VIEW aisle_load AS
SELECT aisle, count(*) FROM bins GROUP BY aisle;

CREATE OR REPLACE FUNCTION warehouse.move_pallet(p bigint, target integer)
RETURNS void AS $$
BEGIN
    UPDATE pallets SET bin_id = target WHERE pallet_id = p;
END;
$$ LANGUAGE plpgsql;

CREATE PROCEDURE purge_empty()
LANGUAGE SQL
AS $$ DELETE FROM pallets WHERE bin_id IS NULL $$;

CREATE TRIGGER pallets_audit AFTER UPDATE ON pallets
FOR EACH ROW EXECUTE FUNCTION log_move();

CREATE SEQUENCE ticket_seq START 100;
