"""The custodians' side: the vault's file, the tokens of people, the way back to them, its audit."""
