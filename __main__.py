"""`python -m biasscope`, for launchers that start modules, such as `accelerate launch -m biasscope train dpo ...`."""

from .apps.cli.main import main

if __name__ == "__main__":
    main()
