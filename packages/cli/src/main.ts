#!/usr/bin/env node
/** `governed`: the process, handed to `run.ts`. */
import { run } from './run.ts'

const { stdin, stdout, stderr, env } = process

// Whoever reads the result may have seen enough of it.
stdout.on('error', (error: { readonly code?: string }) => {
  if (error.code !== 'EPIPE') throw error
})

process.exitCode = await run({ env, cwd: process.cwd(), stdin, stdout, stderr }, process.argv.slice(2))
stdin.destroy()
