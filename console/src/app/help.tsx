/** Help of the screen that is shown: what it is in one line, and its page of the documentation. */
import { help } from '../messages/help.ts'
import { Menu, type MenuItem } from '../ui/menu.tsx'
import { isTouched } from './preferences.ts'
import { navigate, type Route, route } from './router.ts'

type Topic = keyof typeof help.value.about

/** Behind `/-/docs/`. */
const pages: Readonly<Record<Topic, string>> = {
  home: 'api/system#workspaces',
  workspace: 'tutorial',
  items: 'api/items#reading',
  item: 'api/items#two-who-change-one-item',
  files: 'api/items#files',
  access: 'api/who-may-do-what',
  sources: 'api/data-sources',
  model: 'api/data-model#migrations',
  audit: 'api/system#audit-log',
  account: 'api/signing-in',
  'service-accounts': 'api/signing-in#service-accounts',
  users: 'api/system#users',
  providers: 'api/signing-in#sign-in-providers',
  license: 'api/system#license',
  settings: 'configuration',
  'set-up': 'api/data-sources#attaching-a-source',
  documentation: 'api',
}

export default function Help() {
  const topic = topicOf(route.value)
  const texts = help.value
  const items: readonly MenuItem[] = [
    ...(topic === undefined
      ? []
      : ([
          { kind: 'title', label: topic === 'items' && isTouched() ? texts.itemsByTouch : texts.about[topic] },
          { kind: 'action', label: texts.more, onSelect: () => navigate(`/-/docs/${pages[topic]}`) },
        ] as const)),
    { kind: 'action', label: texts.all, onSelect: () => navigate('/-/docs') },
  ]
  return (
    <Menu label={texts.label} items={items} isIcon>
      ?
    </Menu>
  )
}

/** Undefined where nothing is shown. */
function topicOf(at: Route): Topic | undefined {
  switch (at.kind) {
    case 'home':
    case 'workspace':
    case 'access':
    case 'sources':
    case 'model':
    case 'audit':
    case 'item':
      return at.kind
    case 'collection':
      return at.collection === 'ServiceFile' ? 'files' : 'items'
    case 'new':
      return 'item'
    case 'own':
      return own[at.name]
    case 'missing':
    case 'unknown':
      return undefined
  }
}

const own: Readonly<Record<string, Topic>> = {
  account: 'account',
  'service-accounts': 'service-accounts',
  users: 'users',
  providers: 'providers',
  license: 'license',
  settings: 'settings',
  'audit-log': 'audit',
  'set-up': 'set-up',
  docs: 'documentation',
}
