/** Which screen an address shows. What is not in every visit is loaded when it is first shown. */
import { FILES } from '../data/files.ts'
import type { Info, User } from '../data/session.ts'
import { Home } from '../screens/home.tsx'
import { Missing } from '../screens/missing.tsx'
import { WorkspaceScreen } from '../screens/workspace.tsx'
import { lazy } from './lazy.tsx'
import { route } from './router.ts'

const Files = lazy(() => import('../screens/files.tsx'))
const Grid = lazy(() => import('../screens/grid.tsx'))
const Item = lazy(() => import('../screens/item.tsx'))
const NewItem = lazy(() => import('../screens/new-item.tsx'))
const Access = lazy(() => import('../screens/access.tsx'))
const Model = lazy(() => import('../screens/model.tsx'))
const Sources = lazy(() => import('../screens/sources.tsx'))
const AuditLog = lazy(() => import('../screens/audit-log.tsx'))
const Users = lazy(() => import('../screens/system/users.tsx'))
const ServiceAccounts = lazy(() => import('../screens/system/service-accounts.tsx'))
const Providers = lazy(() => import('../screens/system/providers.tsx'))
const License = lazy(() => import('../screens/system/license.tsx'))
const Settings = lazy(() => import('../screens/system/settings.tsx'))
const Account = lazy(() => import('../screens/account.tsx'))
const Documentation = lazy(() => import('../screens/documentation.tsx'))
const Gallery = lazy(() => import('../screens/gallery.tsx'))

type OwnProps = { readonly name: string; readonly user: User; readonly info: Info }

export function Screen({ user, info }: { readonly user: User; readonly info: Info }) {
  const at = route.value
  switch (at.kind) {
    case 'home':
      return <Home user={user} info={info} />
    case 'workspace':
      return <WorkspaceScreen key={at.workspace} workspace={at.workspace} user={user} />
    case 'collection':
      if (at.collection === FILES) return <Files key={at.workspace} workspace={at.workspace} />
      return <Grid key={`${at.workspace}/${at.collection}`} workspace={at.workspace} collection={at.collection} />
    case 'item':
      return <Item key={JSON.stringify(at)} workspace={at.workspace} collection={at.collection} itemKey={at.key} />
    case 'new':
      return <NewItem key={`${at.workspace}/${at.collection}`} workspace={at.workspace} collection={at.collection} />
    case 'audit':
      return <AuditLog key={at.workspace} workspace={at.workspace} user={user} />
    case 'access':
      return <Access key={at.workspace} {...at} />
    case 'sources':
      return <Sources key={at.workspace} {...at} />
    case 'model':
      return <Model key={`${at.workspace}/${at.name}`} {...at} />
    case 'own':
      return <Own name={at.name} user={user} info={info} />
    case 'missing':
      return <Missing workspace={at.workspace} />
    case 'unknown':
      return <Missing />
  }
}

/** Screens of the console itself, by their name in `/-/name`. */
function Own({ name, user, info }: OwnProps) {
  if (name === 'account') return <Account key={user.id} user={user} />
  if (name === 'users') return <Users user={user} />
  if (name === 'service-accounts') return <ServiceAccounts user={user} />
  if (name === 'providers') return <Providers user={user} />
  if (name === 'license') return <License user={user} info={info} />
  if (name === 'settings') return <Settings user={user} />
  if (name === 'docs') return <Documentation />
  if (name === 'components') return <Gallery />
  if (name === 'audit-log' && user.isAdministrator) return <AuditLog user={user} />
  return <Missing />
}
