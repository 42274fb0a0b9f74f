/** E-mail and name. */
import { useState } from 'preact/hooks'
import { system } from '../../data/client.ts'
import { checkSession, type User } from '../../data/session.ts'
import { accountTexts } from '../../messages/account.ts'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { showToast } from '../../ui/toasts.tsx'
import page from '../page.module.css'
import { FullNameField, faultOf, useSubmission } from '../submission.tsx'
import styles from './account.module.css'
import { Identifier } from './identifier.tsx'
import { Section } from './section.tsx'

export function Profile({ user }: { readonly user: User }) {
  const texts = accountTexts.value
  const [fullName, setFullName] = useState(user.fullName ?? '')
  const { fault, isBusy, submit } = useSubmission(async () => {
    const answer = await system.me.update({ fullName: fullName.trim() || null })
    if (!answer.ok) return faultOf(answer)
    showToast(texts.saved)
    void checkSession()
  })
  return (
    <Section title={texts.profile}>
      <form class={styles.form} onSubmit={submit}>
        {fault && <Notice look="danger">{fault}</Notice>}
        <p class={page.quiet}>
          {t.value.session.signedInAs} <strong>{user.email}</strong>
        </p>
        <div class={page.stack}>
          <span class={page.quiet}>{texts.id}</span>
          <Identifier id={user.id} />
        </div>
        <FullNameField value={fullName} onValue={setFullName} />
        <Button type="submit" isBusy={isBusy}>
          {texts.save}
        </Button>
      </form>
    </Section>
  )
}
