/** One's own account: name, password, sessions and API keys. */
import type { User } from '../data/session.ts'
import { t } from '../messages/messages.ts'
import { Keys } from './account/keys.tsx'
import { Password } from './account/password.tsx'
import { Profile } from './account/profile.tsx'
import { Sessions } from './account/sessions.tsx'
import styles from './page.module.css'

export default function Account({ user }: { readonly user: User }) {
  return (
    <div class={styles.page}>
      <h1>{t.value.account.title}</h1>
      <Profile user={user} />
      <Password />
      <Sessions />
      <Keys user={user} />
    </div>
  )
}
