"""The public functions behind `import noarkit`: one module for each journey. They print nothing and never exit."""
