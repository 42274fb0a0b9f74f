/** Texts of the command palette. */
export const palette = {
  palette: {
    newPolicy: 'New policy',
    title: 'Search',
    label: 'Search actions, collections, fields, items and workspaces',
    placeholder: 'What do you want to do?',
    actions: 'Actions',
    collections: 'Collections',
    fields: 'Fields',
    items: 'Items',
    workspaces: 'Workspaces',
    model: { '': 'Data model', diagram: 'Diagram of the data model', file: 'Data model as a file' },
    home: 'All workspaces',
    mayNotRead: 'You may not read its rows.',
    mayNotCreate: 'You may not make rows here.',
    administrators: 'For administrators of the service only.',
    takes: (entitlements: string) => `You lack the right ${entitlements}.`,
  },
}
