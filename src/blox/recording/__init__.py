"""What happens in a run, noted as it happens and worked out as columns afterwards."""
