/** What stands around every screen: where one is, the collections of the workspace, search, and one's account. */
import { signal } from '@preact/signals'
import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import logo from '../../icon.svg'
import { FILES } from '../data/files.ts'
import { useQuery } from '../data/queries.ts'
import { signOut, type User } from '../data/session.ts'
import { accessQuery, isNowhere, readableQuery, titleIn, workspacesQuery } from '../data/workspaces.ts'
import { chooseLanguage, language, languages, t } from '../messages/messages.ts'
import { Button } from '../ui/button.tsx'
import { names as ofScreen } from '../ui/heading.tsx'
import { CollectionMark, Icon, initialOf } from '../ui/icon.tsx'
import { Menu, type MenuItem } from '../ui/menu.tsx'
import { Fault, Skeleton } from '../ui/notice.tsx'
import { showToast } from '../ui/toasts.tsx'
import { AssistantButton, AssistantPanel, isAssistantOpen } from './assistant.tsx'
import { openPalette } from './palette.tsx'
import type { menuOf } from './places.ts'
import { type Scheme, scheme } from './preferences.ts'
import { navigate, pathTo, route } from './router.ts'
import styles from './shell.module.css'

type ShellProps = { readonly user: User; readonly children: ComponentChildren }

const MAIN = 'main'
const SIDE = 'navigation'

export function Shell({ user, children }: ShellProps) {
  const at = route.value
  const workspace = 'workspace' in at ? at.workspace : undefined
  const [Help, setHelp] = useState<ComponentType>()
  useEffect(() => void import('./help.tsx').then((loaded) => setHelp(() => loaded.default), ignored), [])
  return (
    <div
      class={`${styles.frame} ${workspace === undefined ? styles.alone : ''}`}
      data-beside={workspace !== undefined && isAssistantOpen.value}
    >
      <a class={styles.skip} href={`#${MAIN}`} onClick={toMain}>
        {t.value.common.skipToContent}
      </a>
      <header class={styles.bar}>
        {workspace !== undefined && <MenuButton />}
        <a class={styles.brand} href="/" title={t.value.palette.home}>
          <img src={logo} alt="" />
          <span>{t.value.product}</span>
        </a>
        <Place />
        <span class={styles.search}>
          <Button tool="search" onClick={openPalette} aria-keyshortcuts="Control+K">
            {t.value.shell.search}
            <span class={styles.keys}>Ctrl K</span>
          </Button>
        </span>
        {workspace !== undefined && <AssistantButton workspace={workspace} />}
        <span class={styles.help}>{Help && <Help />}</span>
        <AccountMenu user={user} />
      </header>
      {workspace !== undefined && <Side key={workspace} workspace={workspace} />}
      <main id={MAIN} class={styles.main} tabIndex={-1}>
        {children}
      </main>
      {workspace !== undefined && isAssistantOpen.value && (
        <div class={styles.beside}>
          <AssistantPanel key={workspace} workspace={workspace} />
        </div>
      )}
    </div>
  )
}

/** Without help and further entries of menus the page is as good. */
function ignored(): void {}

/** A link into the page would change the address, which is the router's. */
function toMain(event: Event): void {
  event.preventDefault()
  document.getElementById(MAIN)?.focus()
}

function Place() {
  const at = route.value
  const { data: workspaces } = useQuery(workspacesQuery())
  if (!('workspace' in at)) {
    const screen = at.kind === 'own' && ofScreen.value.at(-1)
    return <div class={styles.place}>{screen && screen !== t.value.shell.notFound && <Named text={screen} />}</div>
  }
  const named = workspaces?.find(({ apiName }) => apiName === at.workspace)?.displayName
  const { shell, audit } = t.value
  const parts = { access: shell.access, sources: shell.sources, model: shell.model, audit: audit.title }
  const part = at.kind in parts ? parts[at.kind as keyof typeof parts] : undefined
  // What a collection and its grid, and a part and its first screen, are called is one.
  const last = at.kind === 'collection' || at.kind === 'workspace' ? undefined : ofScreen.value[0]
  return (
    <div class={styles.place}>
      <span>
        <a href={pathTo(at.workspace)} dir="auto">
          {named ?? at.workspace}
        </a>
      </span>
      {part && (
        <span>
          <a href={pathTo(at.workspace, at.kind === 'audit' ? 'audit-log' : at.kind)}>{part}</a>
        </span>
      )}
      {'collection' in at && (
        <span>
          <CollectionLink {...at} />
        </span>
      )}
      {last && last !== part && last !== shell.notFound && <Named text={last} />}
    </div>
  )
}

function Named({ text }: { readonly text: string }) {
  return (
    <span>
      <bdi>{text}</bdi>
    </span>
  )
}

function CollectionLink({ workspace, collection }: { readonly workspace: string; readonly collection: string }) {
  const { data = [] } = useQuery(readableQuery(workspace))
  const title = collection === FILES ? t.value.files.title : titleIn(data, collection)
  return (
    <a href={pathTo(workspace, 'items', collection)} dir="auto">
      {title}
    </a>
  )
}

/** Whether the navigation is a drawer that opens over the screen. */
const isNarrow = signal(false)

/** Opens the drawer. Whether it is shown says the style sheet, by the width of the window in letters. */
function MenuButton() {
  const ref = useRef<HTMLSpanElement>(null)
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => {
      isNarrow.value = ref.current?.checkVisibility() === true
    })
    if (ref.current) observer.observe(ref.current)
    return () => observer.disconnect()
  }, [])
  return (
    <span ref={ref} class={styles.menuButton}>
      <Button look="plain" isIcon popovertarget={SIDE} aria-label={t.value.shell.menu}>
        <Icon name="menu" />
      </Button>
    </span>
  )
}

/** So many links are drawn at once; the filter finds the others. */
const SHOWN = 200

function Side({ workspace }: { readonly workspace: string }) {
  const [text, setText] = useState('')
  const ref = useRef<HTMLElement>(null)
  const { data, error, refetch } = useQuery(readableQuery(workspace))
  const at = route.value
  const current = 'collection' in at ? at.collection : undefined
  const own = data ?? []
  const wanted = text.trim().toLowerCase()
  const found = own.filter(({ name, title }) => `${title} ${name}`.toLowerCase().includes(wanted))
  useEffect(() => {
    if (ref.current?.popover) ref.current.hidePopover()
  }, [at])
  return (
    <nav
      ref={ref}
      id={SIDE}
      popover={isNarrow.value ? 'auto' : undefined}
      class={styles.side}
      aria-label={t.value.shell.navigation}
    >
      <h2 class={styles.sideTitle}>
        <a href={pathTo(workspace)}>{t.value.workspace.collections}</a>
      </h2>
      {own.length > 8 && (
        <input
          type="search"
          class={styles.find}
          aria-label={t.value.workspace.filter}
          placeholder={t.value.workspace.filter}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      )}
      {error && !data && !isNowhere(error) && <Fault error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton lines={6} />}
      <ul class={styles.links} aria-label={t.value.workspace.collections}>
        {found.slice(0, SHOWN).map(({ name, title, icon, color }) => (
          <li key={name}>
            <a href={pathTo(workspace, 'items', name)} aria-current={name === current ? 'page' : undefined}>
              <CollectionMark emoji={icon} color={color} />
              <span dir="auto">{title}</span>
            </a>
          </li>
        ))}
      </ul>
      <Others workspace={workspace} />
    </nav>
  )
}

/** What is no collection of the workspace's own, for whoever may read it. */
function Others({ workspace }: { readonly workspace: string }) {
  const { data } = useQuery(accessQuery(workspace))
  const at = route.value
  const isFiles = 'collection' in at && at.collection === FILES
  const links = [
    {
      isShown: (data?.collections[FILES]?.read ?? 'none') !== 'none',
      path: pathTo(workspace, 'items', FILES),
      icon: 'file',
      title: t.value.files.title,
      isCurrent: isFiles,
    },
    {
      isShown: data?.entitlements.includes('workspaceMembers:read') === true,
      path: pathTo(workspace, 'access'),
      icon: 'people',
      title: t.value.shell.access,
      isCurrent: at.kind === 'access',
    },
    {
      isShown: data?.entitlements.includes('dataModel:read') === true,
      path: pathTo(workspace, 'model'),
      icon: 'model',
      title: t.value.shell.model,
      isCurrent: at.kind === 'model',
    },
    {
      isShown: data?.entitlements.includes('dataSource:read') === true,
      path: pathTo(workspace, 'sources'),
      icon: 'source',
      title: t.value.shell.sources,
      isCurrent: at.kind === 'sources',
    },
    {
      isShown: data?.entitlements.includes('auditLog:read') === true,
      path: pathTo(workspace, 'audit-log'),
      icon: 'history',
      title: t.value.audit.title,
      isCurrent: at.kind === 'audit',
    },
  ] as const
  const shown = links.filter(({ isShown }) => isShown)
  if (shown.length === 0) return null
  return (
    <ul class={`${styles.links} ${styles.tail}`}>
      {shown.map(({ path, icon, title, isCurrent }) => (
        <li key={path}>
          <a href={path} aria-current={isCurrent ? 'page' : undefined}>
            <Icon name={icon} />
            <span>{title}</span>
          </a>
        </li>
      ))}
    </ul>
  )
}

function AccountMenu({ user }: { readonly user: User }) {
  const { shell, session } = t.value
  const schemes = ['system', 'light', 'dark'] as const satisfies readonly Scheme[]
  const [others, setOthers] = useState<typeof menuOf>()
  useEffect(() => void import('./places.ts').then((loaded) => setOthers(() => loaded.menuOf), ignored), [])
  const items: readonly MenuItem[] = [
    { kind: 'title', label: user.fullName ? `${user.fullName} · ${user.email}` : user.email },
    { kind: 'action', label: t.value.shell.yourAccount, onSelect: () => navigate('/-/account') },
    ...(others?.(user) ?? []),
    { kind: 'line' },
    { kind: 'title', label: shell.appearance },
    ...schemes.map((name) => ({
      kind: 'choice' as const,
      label: shell.schemes[name],
      isChosen: scheme.value === name,
      onSelect: () => {
        scheme.value = name
      },
    })),
    { kind: 'line' },
    { kind: 'title', label: shell.language },
    ...languages.map(([name, label]) => ({
      kind: 'choice' as const,
      label,
      isChosen: language.value === name,
      onSelect: () => void chooseLanguage(name),
    })),
    { kind: 'line' },
    {
      kind: 'action',
      label: session.signOut,
      onSelect: () => void signOut().catch(() => showToast(t.value.fault.network, 'danger')),
    },
  ]
  return (
    <Menu label={shell.account} items={items} isIcon staysAsOpened>
      <span class={styles.avatar}>{initialOf(user.fullName || user.email)}</span>
    </Menu>
  )
}
