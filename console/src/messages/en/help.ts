/** Texts of help: what each screen is, in one line, and what surrounds the documentation, which is in English. */
export const help = {
  label: 'Help',
  more: 'Read about it',
  all: 'Documentation',
  pages: 'Pages',
  onPage: 'On this page',
  next: 'Next:',
  places: {
    label: 'Account and service',
    account: 'Your account',
    'service-accounts': 'Service accounts',
    users: 'Users',
    providers: 'Sign-in providers',
    license: 'License',
    settings: 'Settings',
    'audit-log': 'Audit log',
  },
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
    'service-accounts': 'Accounts of programs: each has an owner, roles of its own, and keys to sign in by.',
    users: 'Everybody with an account of this service, whatever workspaces they are in.',
    providers: 'Where people sign in without a password of this service: an OpenID Connect or OAuth 2.0 provider.',
    license: 'What the license allows, and how much of it is used.',
    settings: 'Which variables are set, and their values where they are no secret. They are changed where it runs.',
    'set-up': 'From nothing to a workspace with data: your own database, a model, or a sample.',
    documentation: 'All pages of the documentation of this version.',
  },
}

export type HelpTexts = typeof help
