"""HTML pages about runs, tournaments and battles; each is one file that needs no network."""
