"""What several tests share: real repositories, real files, no mocks."""
