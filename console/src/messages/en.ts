/** English, the language that every other one is measured by. A value is a text or a function of what it tells. */
import { data } from './en/data.ts'
import { entry } from './en/entry.ts'
import { files } from './en/files.ts'
import { license } from './en/license.ts'
import { many } from './en/many.ts'
import { palette } from './en/palette.ts'
import { review } from './en/review.ts'
import type { Direction, Translated } from './translated.ts'

export const en = {
  product: 'Data service',
  languageName: 'English',
  direction: 'ltr' as Direction,

  ...entry,
  ...data,
  ...many,
  ...files,
  ...license,
  ...palette,
  ...review,

  common: {
    /** Between two of several names. */
    comma: ', ',
    cancel: 'Cancel',
    close: 'Close',
    continue: 'Continue',
    later: 'Later',
    loading: 'Loading',
    noMatch: 'Nothing matches',
    optional: 'optional',
    retry: 'Try again',
    showTyped: 'Show what is typed',
    skipToContent: 'Skip to content',
  },

  fault: {
    title: 'That did not work',
    network: 'The service cannot be reached. Nothing on this page is lost; check the connection and try again.',
    timeout: 'The service took too long. Nothing on this page is lost; try again.',
    unsent: 'The page was left before this was saved. Try again, or discard it.',
    unauthenticated: 'You are no longer signed in.',
    forbidden: 'You are not allowed to do this. An administrator of the workspace can change that.',
    notFound: 'This does not exist, or you may not see it.',
    conflict: 'Something else was changed in the meantime:',
    invalid: 'The service did not accept this:',
    throttled: (seconds: string) => `Too many attempts. Try again in ${seconds}.`,
    throttledSoon: 'Too many attempts. Wait a minute and try again.',
    limit: 'The license does not allow this:',
    unavailable: 'The service is not ready. It usually is within a minute; try again then.',
    failed: 'The service failed. Try again; if it stays like this, give this number to whoever runs the service:',
    broken: 'This screen failed. Reloading it helps most of the time; what is stored is not affected.',
    offline: 'There is no connection. This opens by itself as soon as there is one again.',
    reload: 'Reload',
  },

  session: {
    lostTitle: 'You have been signed out',
    lostText: 'Sign in again to go on. What you typed is still there.',
    otherUser: 'Somebody else signed in. The page is loaded anew.',
    signOut: 'Sign out',
    signedInAs: 'Signed in as',
  },

  home: {
    title: 'Workspaces',
    none: 'No workspace yet',
    noneText: 'You are a member of no workspace. Ask an administrator for an invitation.',
    noneTextAdministrator: 'Create the first one to begin.',
    create: 'New workspace',
    find: 'Find a workspace',
    noneFound: 'No workspace is called that.',
    open: 'Open',
    warnings: 'Warnings',
    drift: 'Databases were changed outside of the service. Review the changes in',
  },

  workspace: {
    collections: 'Collections',
    filter: 'Find a collection',
    none: 'No collections yet',
    addData: 'Add data',
    noneText: 'Connect a database or add sample data to see rows here.',
    notFound: 'There is no such workspace, or you are not a member of it.',
    choose: 'Choose a collection to see its rows.',
  },

  audit: {
    members: { expiresAt: 'Expires', name: 'Name', email: 'E-mail' } as Readonly<Record<string, string>>,
    title: 'Audit log',
    titleOfInstance: 'Audit log of the instance',
    none: 'Nothing is recorded that meets the filter',
    time: 'Time',
    action: 'Action',
    anyAction: 'Any action',
    /** Where the service's own names are not of this language. */
    actions: {} as Readonly<Record<string, string>>,
    actor: 'By whom',
    actors: {
      anonymous: 'Not signed in',
      system: 'The service',
      invitation: 'By an invitation',
    } as Readonly<Record<string, string>>,
    target: 'About',
    targets: {
      workspace: 'Workspace',
      user: 'Person',
      serviceAccount: 'Service account',
      apiKey: 'API key',
      role: 'Role',
      policy: 'Policy',
      accessTest: 'Access test',
      invitation: 'Invitation',
      source: 'Data source',
      secret: 'Secret',
      provider: 'Sign-in provider',
      session: 'Session',
      file: 'File',
      conversation: 'Conversation',
    } as Readonly<Record<string, string>>,
    changes: 'Details',
    show: 'Show',
    showOf: (action: string) => `Show details of ${action}`,
    failed: 'failed',
    from: 'From',
    to: 'Until',
    older: 'Older entries',
    recent: 'What changed lately',
    all: 'Go to the audit log',
  },

  shell: {
    access: 'Access',
    yourAccount: 'Your account',
    sources: 'Data sources',
    model: 'Data model',
    menu: 'Menu',
    account: 'Account',
    appearance: 'Appearance',
    schemes: { system: 'As the system', light: 'Light', dark: 'Dark' },
    language: 'Language',
    navigation: 'Navigation',
    assistant: 'Assistant',
    search: 'Search',
    notFound: 'There is no such page',
    notFoundText: 'The address is wrong, or what was here is gone.',
    home: 'Go to the workspaces',
    toWorkspace: (workspace: string) => `Go to ${workspace}`,
    dismiss: 'Dismiss',
    notifications: 'Notifications',
  },

  gallery: {
    title: 'Components',
    text: 'Everything that screens are made of, in the states that it has.',
  },
}

/** What a language has: the same members, with texts of its own. */
export type Messages = Translated<typeof en>
