"""What a dbt project needs before it can anonymize: written by `new`, looked at by `doctor`."""
