/** Texts of help: what each screen is, in one line, and what surrounds the documentation, which is in English. */
export const help = {
  label: 'Help',
  more: 'Read about it',
  all: 'Documentation',
  pages: 'Pages',
  onPage: 'On this page',
  next: 'Next:',
  about: {
    home: 'A workspace has databases, the collections in them, and people with rights.',
    workspace: 'Each collection is a table or view; what you see is what your rights give.',
    items: 'A collection as a grid: what you type in a cell is saved at once, and Ctrl+Z takes it back.',
    item: 'One item with all its fields and what is related to it; nothing is sent before you save.',
    files: 'Files that items refer to. Who may read the row may read the file.',
    access: 'Members have roles, roles have policies, and a policy says who may do what with which rows and fields.',
    sources: 'Databases and other systems whose tables are collections here; an import only reads them.',
    audit: 'Who signed in and who changed rights, sources and the model, and when.',
    account: 'Your name, password and sessions, and the keys by which programs act for you.',
    'set-up': 'From nothing to a workspace with data: your own database, a model, or a sample.',
    documentation: 'All pages of the documentation of this version.',
  },
}

export type HelpTexts = typeof help
