// Without a polyfill for old browsers, so that Node can run the program too.
export default { build: { outDir: 'built/vite', modulePreload: false }, logLevel: 'warn' }
