/** The console by who is signed in: set-up, sign-in, or the screens in their shell, which stay where a session is lost. */
import { Component, type ComponentChildren } from 'preact'
import { checkSession, session } from '../data/session.ts'
import { t } from '../messages/messages.ts'
import { Entry } from '../screens/entry.tsx'
import { SignIn, SignInByLink, SignInForm } from '../screens/sign-in.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Fault, Notice, Skeleton } from '../ui/notice.tsx'
import { Toasts } from '../ui/toasts.tsx'
import { Code } from './code.tsx'
import { lazy } from './lazy.tsx'
import { Palette } from './palette.tsx'
import { route } from './router.ts'
import { Screen } from './screens.tsx'
import type { Secrets } from './secrets.ts'
import { Shell } from './shell.tsx'
import { TitleAndFocus } from './title-and-focus.tsx'

const Reset = lazy(() => import('../screens/reset.tsx'))
const Invitation = lazy(() => import('../screens/invitation.tsx'))
const SetUp = lazy(() => import('../screens/set-up.tsx'))

export function App({ secrets }: { readonly secrets: Secrets }) {
  return (
    <Boundary>
      <Now secrets={secrets} />
      <TitleAndFocus />
      <Toasts />
    </Boundary>
  )
}

function Now({ secrets }: { readonly secrets: Secrets }) {
  const now = session.value
  const at = route.value
  const name = at.kind === 'own' ? at.name : undefined
  if (now.kind === 'starting') {
    return (
      <Entry title={t.value.product}>
        <Skeleton lines={4} />
      </Entry>
    )
  }
  if (now.kind === 'unreachable') {
    return (
      <Entry title={t.value.product}>
        <Fault error={now.error} onRetry={() => void checkSession()} />
      </Entry>
    )
  }
  if (name === 'reset') return <Reset secret={secrets.reset} />
  if (name === 'invitation') return <Invitation given={secrets.invitation} />
  if (now.kind === 'unclaimed') return <SetUp user={undefined} />
  if (now.kind === 'anonymous') {
    return secrets.signIn === undefined ? <SignIn /> : <SignInByLink secret={secrets.signIn} />
  }
  if (name === 'set-up') return <SetUp user={now.user} />
  return (
    <>
      <Shell user={now.user}>
        <Screen user={now.user} info={now.info} />
      </Shell>
      <Palette />
      <Code />
      {now.isLost && (
        <Dialog title={t.value.session.lostTitle}>
          <p>{t.value.session.lostText}</p>
          <SignInForm email={now.user.email} />
        </Dialog>
      )}
    </>
  )
}

/** A fault of a screen leaves a page that says so, and not an empty one. */
class Boundary extends Component<{ readonly children: ComponentChildren }, { readonly hasFailed: boolean }> {
  static override getDerivedStateFromError() {
    return { hasFailed: true }
  }
  override state = { hasFailed: false }
  override componentDidCatch(error: unknown) {
    console.error(error)
  }
  override render() {
    if (!this.state.hasFailed) return this.props.children
    return (
      <Entry title={t.value.fault.title}>
        <Notice look="danger" action={<Button onClick={() => location.reload()}>{t.value.fault.reload}</Button>}>
          {t.value.fault.broken}
        </Notice>
      </Entry>
    )
  }
}
