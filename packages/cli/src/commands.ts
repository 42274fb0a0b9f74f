/** All commands, in the order in which help shows them. */
import type { Command } from './command.ts'
import { doctor } from './commands/doctor.ts'
import { environments } from './commands/env.ts'
import { load } from './commands/load.ts'
import { login, logout } from './commands/login.ts'
import { migrate } from './commands/migrate.ts'
import { diff, pull, push } from './commands/schema.ts'
import { types } from './commands/types.ts'

export const commands: readonly Command[] = [
  login,
  logout,
  ...environments,
  pull,
  diff,
  push,
  types,
  migrate,
  load,
  doctor,
]
