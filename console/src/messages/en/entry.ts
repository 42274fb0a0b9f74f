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
    otherWays: 'Look for other ways to sign in',
    noOtherWays: 'There are none here: sign in with e-mail and password.',
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
    requestText: 'If an account with this address may sign in, we send a mail with a token to it.',
    requestSubmit: 'Send the mail',
    requested:
      'If there is an account with this address and the service sends mails, one is on its way, and valid for one hour. If none arrives, ask whoever runs the service whether SERVICE_MAIL__URL is set.',
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
    invited: (workspace: string, by: string | null) =>
      by === null
        ? `You are invited to the workspace ${workspace}.`
        : `${by} invites you to the workspace ${workspace}.`,
    keepsAccount: 'You have an account here, and sign in to it after this.',
    text: 'Who is new here chooses a password now; who has an account keeps theirs.',
    passwordHint: 'Leave it empty if you have an account here already. At least 10 characters.',
    passwordNeeded: 'Your address has no account here yet. Choose a password for it.',
    token: 'Token from the mail',
    fullName: 'Full name',
    submit: 'Accept',
    wrongToken: 'This token does not count: it is wrong, used or expired. Ask whoever invited you for a new one.',
    wrongAccount:
      'This link makes no account: it counts for whoever is signed in with the invited address, once that is verified. Sign in first and open it again, or use the link of the mail.',
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
    form: 'Begin with a form',
    formText: 'Up to three collections with their fields; more can be added later.',
    file: 'Paste a model file',
    fileText: 'JSON with collections, relations, roles and policies. You see its plan before anything is changed.',
    review: 'Review the plan',
    resume: 'Go on with the set-up',
  },

  connect: {
    provider: 'Provider',
    connectionString: 'Connection string',
    connectionStringText: (server: string) =>
      `It is kept encrypted and never shown again. Such as\n\`${server}/database\``,
    name: 'Name of the source',
    nameText: 'Letters, digits and underscores.',
    tables: 'Tables to import',
    chosen: (chosen: string, all: string) =>
      `${chosen} of ${all} are chosen.${chosen === all ? '' : ' The others can be imported later.'}`,
    findTable: 'Find a table',
    all: 'Choose all',
    none: 'Choose none',
    columns: (shown: string, count: number) => plural(count, { one: `${shown} column`, other: `${shown} columns` }),
    noTables: 'The database answers, but has no tables that this account may read.',
    connect: 'Connect',
    connected: 'The database answers. Choose what to import; nothing in it is changed.',
    looking: 'Looking what there is.',
    importing: (chosen: string, all: string, count: number) =>
      plural(count, {
        one: 'Importing the table. This can take a minute.',
        other: `Importing ${chosen} of ${all} tables, all at once. This can take a minute.`,
      }),
    made: (shown: string, count: number) =>
      plural(count, { one: 'One collection was made.', other: `${shown} collections were made.` }),
    progress: 'Under way',
    stop: 'Stop',
    attach: 'Import',
    back: 'Back',
    keeping: 'Keeping how the database is reached.',
    opening: 'Looking what has come in.',
    leftOut: (shown: string, count: number) =>
      plural(count, {
        one: 'One thing was left out, or can only be read:',
        other: `${shown} things were left out, or can only be read:`,
      }),
    leftOutTitle: 'Left out',
    table: 'Table',
    toRows: 'Go to the rows',
  },

  model: {
    file: 'Model file',
    fileText: 'As `GET /api/{workspace}/schema/model` answers it, or written by hand.',
    noJson: 'This is no JSON.',
    showPlan: 'Show the plan',
    changes: 'What it changes',
    noChanges: 'The workspace is already as this says.',
    actions: { create: 'New', change: 'Will change', rename: 'Will be renamed', delete: 'Will be deleted' },
    destructive: 'This loses data, which nothing brings back:',
    mayDrop: 'Lose this data',
    statements: 'SQL that it runs',
    moved: 'Something has changed since this plan was made. This is the new one; look at it again.',
    apply: 'Apply',
    taken: (collection: string) => `There is a collection ${collection} already.`,
    addCollection: 'Add a collection',
    removeCollection: (collection: string) => `Remove ${collection}`,
    collection: (number: string) => `Collection ${number}`,
    name: 'Name of the collection',
    nameText: 'Letters, digits and underscores. Its key, a number id, is made beside the fields.',
    field: (number: string) => `Field ${number}`,
    type: 'Type',
    types: {
      string: 'Text',
      int32: 'Whole number',
      'decimal(12,2)': 'Decimal number',
      boolean: 'Yes or no',
      date: 'Date',
      dateTime: 'Date and time',
      json: 'JSON',
    },
    refersTo: (collection: string) => `Refers to ${collection}`,
    isOptional: 'may be empty',
    addField: 'Add a field',
    removeField: (field: string) => `Remove the field ${field}`,
  },
}
