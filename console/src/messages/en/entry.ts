/** Texts of the ways in: sign-in, reset, invitation and the guided set-up. */
import { pluralIn } from '../plural.ts'

const plural = pluralIn('en')

export const entry = {
  signIn: {
    title: 'Sign in',
    email: 'E-mail',
    password: 'Password',
    submit: 'Sign in',
    wrong: 'E-mail or password is wrong.',
    forgot: 'Forgot your password?',
    otherWays: 'Other ways to sign in',
    noOtherWays: 'There are no other ways to sign in here.',
    with: (provider: string) => `Sign in with ${provider}`,
    invited: 'I have an invitation',
    providerFault: {
      access_denied: 'The sign-in was cancelled at the provider.',
      provider_unavailable: 'The provider cannot be reached. Try again, or sign in with your password.',
      not_allowed:
        'The provider knows you, but there is no account for you here. Ask an administrator for an invitation.',
      sign_in_failed: 'The sign-in at the provider failed. Try again.',
    },
    linkUsed:
      'This sign-in link no longer counts: it works once, within ten minutes. Start the service again for a new one, or sign in below.',
    linkUnderWay: 'Signing you in',
  },

  reset: {
    title: 'Choose a new password',
    requestTitle: 'Reset the password',
    requestText: 'We send a token to this address if there is an account that may sign in.',
    requestSubmit: 'Send the mail',
    requested: 'If there is an account with this address, a mail is on its way. It is valid for one hour.',
    haveToken: 'I have a token',
    token: 'Token from the mail',
    newPassword: 'New password',
    submit: 'Set the password',
    done: 'The password was changed and all other sessions have ended. Sign in with it now.',
    wrongToken: 'This token does not count: it is wrong, used or older than an hour. Ask for a new mail.',
    back: 'Back to sign-in',
  },

  invitation: {
    title: 'Accept an invitation',
    text: 'A password is needed only if your address has no account yet.',
    token: 'Token from the mail',
    fullName: 'Full name',
    submit: 'Accept',
    wrongToken: 'This token does not count: it is wrong, used or expired. Ask whoever invited you for a new one.',
    done: (workspace: string) => `You are a member of ${workspace} now. Sign in to open it.`,
  },

  passwordRule: 'At least 10 characters.',

  setUp: {
    title: 'Set up the service',
    steps: ['Administrator', 'Workspace', 'Data'] as readonly string[],
    step: (now: string, all: string) => `Step ${now} of ${all}`,
    administrator: 'The first administrator',
    administratorText: 'This account may do everything. More people can be invited later.',
    setupToken: 'Set-up token',
    setupTokenText: 'The value of SERVICE_SETUP_TOKEN, which proves that you run this service.',
    wrongToken: 'The set-up token is missing or wrong.',
    taken: 'Somebody has set up this service in the meantime. Sign in instead.',
    create: 'Create the administrator',
    workspace: 'The first workspace',
    workspaceText: 'A workspace has its own data model, people and rights.',
    workspaceName: 'Name',
    workspaceApiName: 'Name in addresses',
    workspaceApiNameText: 'Lower-case letters, digits and underscores, beginning with a letter.',
    createWorkspace: 'Create the workspace',
    data: 'The data',
    sample: 'Sample data',
    sampleText: 'A small library of books, authors and loans, to try everything with.',
    connect: 'Connect a database',
    connectText: 'PostgreSQL, MySQL, MariaDB, Neon or PlanetScale. Your tables stay where they are.',
    sampleUnderWay: 'Making collections and rows',
    empty: 'Start empty',
    emptyText: 'Collections are added later.',
    resume: 'Go on with the set-up',
  },

  connect: {
    provider: 'Provider',
    connectionString: 'Connection string',
    connectionStringText:
      'Such as postgres://user:password@host:5432/database. It is kept encrypted and never shown again.',
    name: 'Name of the source',
    nameText: 'Letters, digits and underscores.',
    tables: 'Tables to import',
    chosen: (chosen: string, all: string) => `${chosen} of ${all} are chosen. The others can be imported later.`,
    findTable: 'Find a table',
    all: 'Choose all',
    none: 'Choose none',
    columns: (shown: string, count: number) => plural(count, { one: `${shown} column`, other: `${shown} columns` }),
    noTables: 'The database answers, but has no tables that this account may read.',
    connect: 'Connect',
    connected: 'The database answers. Choose what to import; nothing in it is changed.',
    looking: 'Looking what there is.',
    importing: (shown: string, count: number) =>
      plural(count, {
        one: 'Importing a table. This can take a minute.',
        other: `Importing ${shown} tables. This can take a minute.`,
      }),
    progress: 'Under way',
    stop: 'Stop',
    attach: 'Import',
    back: 'Back',
  },
}
