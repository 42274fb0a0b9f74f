/** One's own account: name, password, sessions and API keys. */
import { CodeButton } from '../app/code.tsx'
import type { User } from '../data/session.ts'
import { accountTexts } from '../messages/account.ts'
import { t } from '../messages/messages.ts'
import { Heading } from '../ui/heading.tsx'
import { Keys } from './account/keys.tsx'
import { Password } from './account/password.tsx'
import { Profile } from './account/profile.tsx'
import { Sessions } from './account/sessions.tsx'
import type { CodeRequest } from './code/request.ts'
import styles from './page.module.css'
import { Places } from './system/page.tsx'

const sessionsRequest: CodeRequest = {
  workspace: undefined,
  path: '/system/users/me/sessions',
  query: {},
  call: ['system', 'me.sessions'],
}

export default function Account({ user }: { readonly user: User }) {
  return (
    <div class={styles.page}>
      <div class={styles.head}>
        <Heading text={t.value.shell.yourAccount} />
        <CodeButton request={() => sessionsRequest} />
      </div>
      <Places at="account" user={user} />
      <Profile user={user} />
      <Password />
      <Sessions />
      <Keys userId={user.id} text={accountTexts.value.keysText} />
    </div>
  )
}
