/** A new password by the one that counts. */
import { useState } from 'preact/hooks'
import { instance } from '../../data/client.ts'
import { queries } from '../../data/queries.ts'
import { accountTexts } from '../../messages/account.ts'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { faultOf, NewPasswordField, SecretField, useSubmission } from '../submission.tsx'
import styles from './account.module.css'
import { Section } from './section.tsx'

export function Password() {
  const texts = accountTexts.value
  const [currentPassword, setCurrent] = useState('')
  const [newPassword, setNew] = useState('')
  const { fault, isBusy, submit } = useSubmission(async () => {
    const body = { currentPassword, newPassword }
    const answer = await instance.$request('POST', '/api/auth/password-change', { body })
    if (!answer.ok) return faultOf(answer, { 401: texts.wrongPassword })
    setCurrent('')
    setNew('')
    showToast(texts.passwordChanged)
    void queries.invalidateQueries({ queryKey: ['sessions'] })
  })
  return (
    <Section title={t.value.signIn.password} text={texts.passwordText}>
      <form class={styles.form} onSubmit={submit}>
        {fault && <Notice look="danger">{fault}</Notice>}
        <SecretField
          label={texts.currentPassword}
          autocomplete="current-password"
          value={currentPassword}
          onValue={setCurrent}
        />
        <NewPasswordField label={t.value.reset.newPassword} value={newPassword} onValue={setNew} />
        <Button type="submit" isBusy={isBusy}>
          {texts.changePassword}
        </Button>
      </form>
    </Section>
  )
}
