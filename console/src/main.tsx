/** Starts the console: secrets leave the address first, then the session is requested. */
import { render } from 'preact'
import './styles/tokens.css'
import './styles/base.css'
import { App } from './app/app.tsx'
import { startPalette } from './app/palette.tsx'
import { startPreferences } from './app/preferences.ts'
import { startRouter } from './app/router.ts'
import { takeSecrets } from './app/secrets.ts'
import { startSession } from './data/session.ts'
import { startMessages } from './messages/messages.ts'

const secrets = takeSecrets()
startPreferences()
startRouter()
startPalette()
await startMessages()
render(<App secrets={secrets} />, document.getElementById('app') as HTMLElement)
await startSession()
