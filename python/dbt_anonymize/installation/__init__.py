"""What a dbt project needs before it can anonymize: written by `new`, checked by `doctor`."""
