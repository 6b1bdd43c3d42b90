"""What all admin pages share: sidebar, breadcrumbs, read-only lists, columns, groups and rights."""
