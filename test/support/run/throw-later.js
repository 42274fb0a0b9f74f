/** Loaded before a program: what it does in a timer, once it is told to by a signal, is caught by nobody. */
process.on('SIGUSR2', () => {
  setTimeout(() => {
    throw new Error('thrown in a timer')
  })
})
process.on('SIGWINCH', () => {
  setTimeout(() => {
    void Promise.reject(new Error('rejected in a timer'))
  })
})
