"""How the files of any package are held: in a folder, a zip or a tar; read without unpacking, and grown so that a build
goes on where it was killed and nothing bears the target's name before it is whole."""
